package reconciler

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
)

// exclusions remembers where launches were refused lately, so that the next try goes elsewhere.
type exclusions struct {
	clock clock.PassiveClock
	life  time.Duration
	mu    sync.Mutex
	until map[fleet.Slot]time.Time
}

func newExclusions(clk clock.PassiveClock, life time.Duration) *exclusions {
	return &exclusions{clock: clk, life: life, until: map[fleet.Slot]time.Time{}}
}

func (e *exclusions) add(slots ...fleet.Slot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	until := e.clock.Now().Add(e.life)
	for _, s := range slots {
		e.until[s] = until
	}
}

// slots returns those still in force, and when the first of them ends.
func (e *exclusions) slots() ([]fleet.Slot, time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	var out []fleet.Slot
	var first time.Time
	for s, until := range e.until {
		if !now.Before(until) {
			delete(e.until, s)
			continue
		}
		out = append(out, s)
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return out, first
}
