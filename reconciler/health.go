package reconciler

import (
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/store"
)

// health is what the lease tells of this controller.
func (op *Operator) health() store.Health {
	o := op.o.Load()
	h := o.Health()
	if last := op.elector.shown.budget.Load(); last != nil && o.Config.Budget.Monthly > 0 {
		h.Budget = *last // until this controller has read the costs
	}
	if m := op.manager.Load(); m != nil {
		h.ScannedAt, h.SweptAt = m.scanner.scanned.get(), m.fleetSweep.swept.get()
		down := m.requests.statuses.reasons.outages
		h.GitHubOutage, h.FleetOutage = down.lasting(serviceGitHub), down.lasting(serviceFleet)
		h.Budget = m.cache.budget.health()
		h.BreakerOpenAt, h.ListingIncompleteAt = m.fleetSweep.breaker.opened.get(), m.fleetSweep.incomplete.get()
	}
	return h
}

// instant is a moment that many may read while one sets it; zero: none.
type instant struct{ at atomic.Pointer[time.Time] }

func (i *instant) set(t time.Time) { i.at.Store(&t) }

// hold keeps the moment since when something is so: now if it was not, none if it is not.
func (i *instant) hold(so bool, now time.Time) {
	switch {
	case !so:
		i.at.Store(nil)
	case !i.is():
		i.set(now)
	}
}

func (i *instant) is() bool { return i.at.Load() != nil }

func (i *instant) get() store.Time {
	if t := i.at.Load(); t != nil {
		return store.At(*t)
	}
	return store.Time{}
}
