package pool_test

import (
	"testing"

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
			p, _ := newPickup()
			p.Put(ticket)
			if _, got := p.Take(q, "r", nil); got != c.want {
				t.Errorf("Take found = %t, want %t (%s)", got, c.want, c.reason)
			}
		})
	}
}
