package reconciler

import (
	"cmp"
	"fmt"
	"maps"
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
	until   time.Time
	refusal fleet.Refusal
}

func newExclusions(clk clock.PassiveClock, life time.Duration) *exclusions {
	return &exclusions{clock: clk, life: life, until: map[fleet.Slot]refusedSlot{}}
}

func (e *exclusions) add(r fleet.Refusal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until[r.Slot] = refusedSlot{e.clock.Now().Add(e.life), r}
}

// textOf says where and why a launch was refused, in the fleet's own words.
func textOf(r fleet.Refusal) string {
	where := strings.Join(strings.Fields(r.Slot.UsageClass+" "+r.Slot.InstanceType+" "+r.Slot.Zone), " ")
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", where, r.Code, r.Message))
}

// last returns the newest refusals still in force that concern a query, the newest first; "" if there are none.
func (e *exclusions) last(q pool.Query) string {
	var inForce []refusedSlot
	e.concerning(q, func(r refusedSlot) { inForce = append(inForce, r) })
	slices.SortFunc(inForce, func(a, b refusedSlot) int {
		return cmp.Or(b.until.Compare(a.until), cmp.Compare(textOf(a.refusal), textOf(b.refusal)))
	})
	texts := make([]string, len(inForce))
	for i, r := range inForce {
		texts[i] = textOf(r.refusal)
	}
	return list(texts)
}

// concerning calls yield with every refusal still in force that concerns a query, in no order, under the lock.
func (e *exclusions) concerning(q pool.Query, yield func(refusedSlot)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	for s, r := range e.until {
		concerns := (s.UsageClass == "" || slices.Contains(q.UsageClasses, s.UsageClass)) && (s.ResourceClass == "" || s.ResourceClass == q.ResourceClass)
		if concerns && now.Before(r.until) {
			yield(r)
		}
	}
}

// zones says where capacity is refused for a query, and the fleet's own code, at most maxListed of them.
func (e *exclusions) zones(q pool.Query) []string {
	var refused []fleet.Refusal
	e.concerning(q, func(r refusedSlot) { refused = append(refused, r.refusal) })
	return zonesOf(refused)
}

// zonesOf says where a launch was refused, and the fleet's own code, at most maxListed of them.
func zonesOf(refused []fleet.Refusal) []string {
	codes := map[string]bool{}
	for _, r := range refused {
		codes[strings.TrimSpace(r.Slot.Zone+" "+r.Code)] = true
	}
	return atMost(slices.Sorted(maps.Keys(codes)))
}

// maxListed is how many refusals are listed at once, of a launch or to a request: EC2 may refuse every type
// in every zone, and a record of a kilobyte costs one write unit.
const maxListed = 5

// list joins the texts of refusals, as many as may be.
func list(texts []string) string { return strings.Join(atMost(texts), "; ") }

func atMost(texts []string) []string {
	if n := len(texts) - maxListed; n > 0 {
		return append(slices.Clone(texts[:maxListed]), fmt.Sprintf("and %d more", n))
	}
	return texts
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
