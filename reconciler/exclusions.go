package reconciler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
)

// exclusions remembers where launches were refused lately, so that the next try goes elsewhere.
type exclusions struct {
	clock clock.PassiveClock
	life  time.Duration
	mu    sync.Mutex
	until map[fleet.Slot]refusedSlot
}

// refusedSlot is why a place is left alone, and until when.
type refusedSlot struct {
	until time.Time
	told  string
}

func newExclusions(clk clock.PassiveClock, life time.Duration) *exclusions {
	return &exclusions{clock: clk, life: life, until: map[fleet.Slot]refusedSlot{}}
}

func (e *exclusions) add(r fleet.Refusal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until[r.Slot] = refusedSlot{e.clock.Now().Add(e.life), tell(r)}
}

// tell says where and why a launch was refused, in the fleet's own words.
func tell(r fleet.Refusal) string {
	where := strings.Join(strings.Fields(r.Slot.UsageClass+" "+r.Slot.InstanceType+" "+r.Slot.Zone), " ")
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", where, r.Code, r.Message))
}

// last tells the newest refusals still in force that concern a query, the newest first; "" if there are none.
func (e *exclusions) last(q pool.Query) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	var inForce []refusedSlot
	for s, r := range e.until {
		concerns := (s.UsageClass == "" || slices.Contains(q.UsageClasses, s.UsageClass)) && (s.ResourceClass == "" || s.ResourceClass == q.ResourceClass)
		if concerns && now.Before(r.until) {
			inForce = append(inForce, r)
		}
	}
	slices.SortFunc(inForce, func(a, b refusedSlot) int { return cmp.Or(b.until.Compare(a.until), cmp.Compare(a.told, b.told)) })
	told := make([]string, len(inForce))
	for i, r := range inForce {
		told[i] = r.told
	}
	return list(told)
}

// maxTold is how many refusals are told at once, of a launch or to a request: EC2 may refuse every type
// in every zone, and a record of a kilobyte costs one write unit.
const maxTold = 5

// list joins what was told of refusals, as many as may be.
func list(told []string) string {
	if n := len(told) - maxTold; n > 0 {
		told = append(slices.Clone(told[:maxTold]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(told, "; ")
}

// slots returns those still in force, and when the first of them ends.
func (e *exclusions) slots() ([]fleet.Slot, time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	var out []fleet.Slot
	var first time.Time
	for s, r := range e.until {
		if !now.Before(r.until) {
			delete(e.until, s)
			continue
		}
		out = append(out, s)
		if first.IsZero() || r.until.Before(first) {
			first = r.until
		}
	}
	return out, first
}
