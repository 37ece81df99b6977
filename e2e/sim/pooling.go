package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws on the pool. Current is named after H56 in docs/acceptance.md.
const (
	Current  = "H56 no outdated machine is handed out"
	Scrubbed = "what is pooled was scrubbed after its last run"
	Warm     = "a warm machine that fits is claimed before any is launched"
)

// Bounds of the laws below, at pace 1.
const (
	poolWithin  = 4 * time.Minute  // invariant 5: from clean to pooled: a fail-over, and a store that is down for a while
	outdatedFor = 10 * time.Minute // H56: a new template is noticed within it, whatever fails
	lainFor     = 5 * time.Second  // a machine that lies in the pool for so long, or that much longer, may be claimed
)

// pooling are the laws on the pool: what is clean comes in, and nothing else, and what lies there is used.
type pooling struct {
	w       *World
	records *records
	facts   *facts
}

// reachable: what is clean is pooled soon (H16, H17).
func (p *pooling) reachable() {
	now := p.w.clock.Now()
	p.records.mu.Lock()
	defer p.records.mu.Unlock()
	for id, in := range p.records.instances {
		clean := store.SignalValue{Signal: store.RemoveOK, RunID: in.RunID, Assignment: in.Assignment}
		if in.State != statemachine.Idle || !in.PooledAt.IsZero() || p.records.last[in.Principal] != clean {
			continue
		}
		if over := now.Sub(p.records.lastAt[in.Principal].Add(p.w.o.paced(poolWithin))); over > 0 && over <= p.w.o.paced(patrolEvery) {
			p.w.verdicts.broke(Reachable, "%s is clean for %s and not pooled", id, over+p.w.o.paced(poolWithin))
		}
	}
}

// current: no machine of an older template is claimed once that must be known (H56).
func (p *pooling) current(was, in store.Instance) {
	if was.State != statemachine.Idle || in.State != statemachine.Claimed || !p.facts.outdated(in) {
		return
	}
	if since := p.w.clock.Since(p.facts.templateAt); since > p.w.o.paced(outdatedFor) {
		p.w.verdicts.broke(Current, "%s is of template %q and was claimed %s after %q took its place", in.ID, in.TemplateVersion, since, p.facts.template.Version)
	}
}

// scrubbed: a machine that is offered was scrubbed after the last listener on it had ended.
func (p *pooling) scrubbed(was, in store.Instance) {
	if was.PooledAt.IsZero() && !in.PooledAt.IsZero() && p.w.machines.soiled(string(in.ID)) {
		p.w.verdicts.broke(Scrubbed, "%s was pooled, and nobody scrubbed it since its last listener", in.ID)
	}
}

// warmFirst: nothing is launched for a request while a machine that it may have lies in the pool, which nobody else waits for.
func (p *pooling) warmFirst(l store.Launch) {
	now := p.w.clock.Now()
	if !p.w.disturbances.calm() {
		return // the leader may not have looked yet
	}
	for id := range p.records.requests {
		_, waits := p.facts.waits(id)
		if waits && !slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == id }) {
			return // it may be kept for that one
		}
	}
	for _, s := range l.Seats {
		r := p.records.requests[s.RequestID][s.Attempt]
		q := p.facts.query(r.RunRequest)
		for _, in := range p.records.instances {
			if p.lies(in, now) && q.Matches(ticketOf(in)) {
				p.w.verdicts.broke(Warm, "%d machines are launched for %s/%d while %s, which fits, lies in the pool for %s",
					l.Count, s.RequestID, s.Attempt, in.ID, now.Sub(in.PooledAt.Time))
			}
		}
	}
}

// lies reports whether an instance lies in the pool, and can be had.
func (p *pooling) lies(in store.Instance, now time.Time) bool {
	machine := string(in.ID)
	if in.State != statemachine.Idle || in.PooledAt.IsZero() || p.w.machines.isDisturbed(machine) || !p.w.machines.lives(machine) || p.facts.dismissed(in) {
		return false
	}
	return now.Sub(in.PooledAt.Time) > p.w.o.paced(lainFor)+2*p.w.clocks.skew() && in.Threshold.Sub(now) > p.w.o.paced(lainFor)+2*p.w.clocks.skew()
}
