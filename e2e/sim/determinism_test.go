package sim_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

// One seed gives one story: every call at the same nanosecond, of plain stories and of all that random ones
// contain.
func TestSeed_GivesTheSameStory(t *testing.T) {
	if raced {
		t.Skip("the race detector lets goroutines take turns by chance: make sim runs this without it")
	}
	if testing.Short() {
		t.Skip("tells 22 stories twice: make check runs it")
	}
	shard, of, err := parseShard(*shardFlag)
	check(t, err)
	stories, hours, broken := 0, 0.0, 0
	for i, s := range seeded() {
		if i%of != shard {
			continue
		}
		stories++
		difference, r := same(t, s)
		hours += r.Hours
		if difference != "" {
			broken++
			t.Errorf("seed %d, pace %g: told %d times and never twice alike; at last: %s", s.Seed, s.Pace, tries, difference)
		}
	}
	tally(t, stories, 0, hours, broken)
}

// seeded are the stories that are told again: small ones, so that each call can be compared.
func seeded() []sim.Script {
	var out []sim.Script
	for seed := range uint64(20) {
		s := story()
		s.Seed = seed
		s.Rates = sim.Rates{sim.CrashAfter: 0.002, sim.LostReply: 0.01, sim.Throttled: 0.01, sim.Twice: 0.01, sim.Late: 0.01, sim.Stale: 0.05}
		out = append(out, s)
	}
	for _, seed := range []uint64{6, 12} { // small ones at the product's own intervals
		out = append(out, sim.Random(seed))
	}
	return out
}

// same tells a story until it comes twice alike in a row, and returns the last difference; "" if it did.
func same(t *testing.T, s sim.Script) (difference string, r sim.Report) {
	t.Helper()
	var before []string
	for range tries {
		var calls bytes.Buffer
		s.Trace = &calls
		r = sim.Run(t, s)
		got := lines(calls)
		if before != nil {
			if difference = differ(before, got); difference == "" {
				return "", r
			}
		}
		before = got
	}
	return difference, r
}

// differ returns the first difference of two stories.
func differ(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + ", then " + b[i]
		}
	}
	if len(a) != len(b) {
		return "one has more calls"
	}
	return ""
}

// lines returns the calls of a story by their time; those of one instant have no order.
func lines(b bytes.Buffer) []string {
	return slices.Sorted(strings.SplitSeq(b.String(), "\n"))
}
