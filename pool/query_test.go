package pool_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/pool"
)

// S43, S51, S52, S53
func TestQuery_Matches(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		edit         func(*pool.Query, *pool.Ticket)
		want         bool
	}{
		{"Same", "what was asked for", func(*pool.Query, *pool.Ticket) {}, true},
		{"OtherClass_S43", "classes are apart", func(_ *pool.Query, t *pool.Ticket) { t.ResourceClass = "large" }, false},
		{"ClassIsLiteral_S43", "a class is no pattern", func(q *pool.Query, _ *pool.Ticket) { q.ResourceClass = "m*" }, false},
		{"OnDemandForSpot_S51", "costs more", func(_ *pool.Query, t *pool.Ticket) { t.UsageClass = "on-demand" }, false},
		{"SpotForOnDemand_S51", "may be taken away", func(q *pool.Query, _ *pool.Ticket) { q.UsageClasses = []string{"on-demand"} }, false},
		{"EitherUsage_S51", "both allowed", func(q *pool.Query, t *pool.Ticket) {
			q.UsageClasses, t.UsageClass = []string{"spot", "on-demand"}, "on-demand"
		}, true},
		{"NoUsage_S51", "none allowed", func(q *pool.Query, _ *pool.Ticket) { q.UsageClasses = nil }, false},
		{"OtherType_S52", "not allowed", func(_ *pool.Query, t *pool.Ticket) { t.InstanceType = "m5.large" }, false},
		{"SecondPattern_S52", "any of them", func(q *pool.Query, _ *pool.Ticket) { q.AllowedTypes = []string{"m*", "C6I.*"} }, true},
		{"NoPattern_S52", "none allowed", func(q *pool.Query, _ *pool.Ticket) { q.AllowedTypes = nil }, false},
		{"MoreCPU_S53", "exactly", func(_ *pool.Query, t *pool.Ticket) { t.CPU++ }, false},
		{"LessCPU_S53", "exactly", func(_ *pool.Query, t *pool.Ticket) { t.CPU-- }, false},
		{"MoreMem_S53", "at least", func(_ *pool.Query, t *pool.Ticket) { t.Mem++ }, true},
		{"LessMem_S53", "at least", func(_ *pool.Query, t *pool.Ticket) { t.Mem-- }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, ticket := query(), spot(1)
			c.edit(&q, &ticket)
			if got := q.Matches(ticket); got != c.want {
				t.Errorf("Matches = %t, want %t (%s)\n%+v\n%+v", got, c.want, c.reason, q, ticket)
			}
			p, _ := newPickup(pool.PickupOptions{})
			p.Put(ticket)
			if _, got := p.Take(q, "r", nil); got != c.want {
				t.Errorf("Take found = %t, want %t (%s)", got, c.want, c.reason)
			}
		})
	}
}

// Two queries share a memo only if they are the same. The same letters, cut and dealt in two ways,
// are where a key would go wrong.
func TestQuery_KeyTellsQueriesApart(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("a\x00\x01\x02")), 0, 5, -1)
	for range 10 { // times rapid's 100 checks
		rapid.Check(t, func(t *rapid.T) {
			text := letters.Draw(t, "text")
			a, b := deal(t, text), deal(t, text)
			if (a.Key() == b.Key()) != reflect.DeepEqual(a, b) {
				t.Fatalf("keys %q and %q of\n%+v\n%+v", a.Key(), b.Key(), a, b)
			}
		})
	}
}

// deal cuts text and makes a query of the pieces.
func deal(t *rapid.T, text string) pool.Query {
	q := pool.Query{CPU: rapid.IntRange(-1, 1).Draw(t, "cpu"), Mem: rapid.IntRange(0, 1).Draw(t, "mem")}
	cut := func(name string) (piece string) {
		n := rapid.IntRange(0, len(text)).Draw(t, name)
		piece, text = text[:n], text[n:]
		return piece
	}
	q.ResourceClass = cut("class")
	for range rapid.IntRange(0, 2).Draw(t, "usages") {
		q.UsageClasses = append(q.UsageClasses, cut("usage"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "types") {
		q.AllowedTypes = append(q.AllowedTypes, cut("type"))
	}
	return q
}
