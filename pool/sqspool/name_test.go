package sqspool_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/pool/sqspool"
)

// pair is what a queue's name must distinguish from every other.
type pair struct{ prefix, class string }

func (p pair) queue() string { return sqspool.QueueName(p.prefix, p.class) }

// SQS API, CreateQueue, QueueName.
var queueForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkNames fails the test unless two pairs have good names that distinguish them. H58
func checkNames(t interface{ Fatalf(string, ...any) }, a, b pair) {
	for _, p := range []pair{a, b} {
		name := p.queue()
		switch {
		case !queueForm.MatchString(name):
			t.Fatalf("name of %s is %q, which SQS refuses", p, name)
		case !strings.HasPrefix(name, sqspool.NamePrefix(p.prefix)):
			t.Fatalf("name of %s is %q, which a list of %q lacks", p, name, sqspool.NamePrefix(p.prefix))
		case !sqspool.Ours(p.prefix, name):
			t.Fatalf("name of %s is %q, which is not taken for that of prefix %q", p, name, p.prefix)
		}
	}
	if a != b && a.queue() == b.queue() {
		t.Fatalf("%s and %s share the queue %q", a, b, a.queue())
	}
	if a.prefix != b.prefix && sqspool.Ours(a.prefix, b.queue()) {
		t.Fatalf("queue %q of %s is taken for one of prefix %q", b.queue(), b, a.prefix)
	}
}

// A name says prefix and class; where that would be ambiguous, too long or no name, a hash follows.
func TestQueueName_H58(t *testing.T) {
	hash := regexp.MustCompile(`^[0-9a-f]{24}$`)
	for _, c := range []struct {
		reason, prefix, class, want string
		hashed                      bool
	}{
		{"as people expect", "remuda", "xlarge", "remuda-xlarge", false},
		{"only the last dash divides", "remuda-prod", "xlarge", "remuda-prod-xlarge", false},
		{"prefix remuda-prod and class x are called so", "remuda", "prod-x", "remuda-prod-x-", true},
		{"a dot is no letter to SQS", "owner.repo", "x", "owner-repo-x-", true},
		{"the notification queue of table remuda is called so", "remuda", "events", "remuda-events-", true},
		{"a class that looks like a hash", "remuda", strings.Repeat("ab", 12), "remuda-" + strings.Repeat("ab", 12) + "-", true},
		{"no class", "remuda", "", "remuda--", true},
		{"exactly 80", strings.Repeat("p", 78), "x", strings.Repeat("p", 78) + "-x", false},
		{"81 is too long", strings.Repeat("p", 79), "x", strings.Repeat("p", 55) + "-", true},
	} {
		got := pair{c.prefix, c.class}.queue()
		rest, ok := strings.CutPrefix(got, c.want)
		if !ok || c.hashed && !hash.MatchString(rest) || !c.hashed && rest != "" {
			t.Errorf("%s: QueueName(%q, %q) = %q, want %q, hash %t", c.reason, c.prefix, c.class, got, c.want, c.hashed)
		}
	}
}

// Every pair of short texts, so that every way to confuse them is there.
func TestQueueName_H58_AllShortPairs(t *testing.T) {
	texts := []string{""}
	for from := 0; len(texts[from]) < 4; from++ {
		for _, letter := range "a-." {
			texts = append(texts, texts[from]+string(letter))
		}
	}
	seen := make(map[string]pair)
	for _, prefix := range texts[1:] {
		for _, class := range texts {
			p := pair{prefix, class}
			if other, found := seen[p.queue()]; found {
				t.Fatalf("%s and %s share the queue %q", p, other, p.queue())
			}
			seen[p.queue()] = p
		}
	}
}

func TestQueueName_H58_Property(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ab_.-]{1,5}`), rapid.StringMatching(`[a-z-]{1,90}`), rapid.String(),
		rapid.SampledFrom([]string{"events", "remuda", "remuda-events", strings.Repeat("0f", 12), ".fifo"}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) string { return text.Draw(t, what) }
		a := pair{draw("prefix"), draw("class")}
		b := pair{draw("other prefix"), draw("other class")}
		// The pairs that a mistake would confuse are those whose texts are cut elsewhere.
		joined := a.prefix + "-" + a.class
		at := rapid.IntRange(0, len(joined)-1).Draw(t, "cut")
		checkNames(t, a, b)
		checkNames(t, a, pair{joined[:at], joined[at+1:]})
		checkNames(t, a, pair{a.queue()[:min(at, len(a.queue()))], a.queue()[min(at+1, len(a.queue())):]})
	})
}

func FuzzQueueName(f *testing.F) {
	f.Add("remuda", "prod-x", "remuda-prod", "x")
	f.Add("owner.repo", "x", "owner-repo", "x")
	f.Add("p", pair{"p", "a-b"}.queue()[2:], "p", "a-b")
	f.Add(strings.Repeat("p", 100), "x", strings.Repeat("p", 100), "y")
	f.Fuzz(func(t *testing.T, prefix, class, otherPrefix, otherClass string) {
		checkNames(t, pair{prefix, class}, pair{otherPrefix, otherClass})
	})
}

func (p pair) String() string { return fmt.Sprintf("prefix %q, class %q", p.prefix, p.class) }
