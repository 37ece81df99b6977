package sim

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// restWithin is how soon an installation comes to rest once nothing is broken any more, at pace 1.
const restWithin = 10 * time.Minute

// rest is the end of a story: everything stands still, and then everything is gone.
type rest struct {
	w       *World
	settled time.Duration // how long it took to stand still
}

// settle waits until everything stands still, and then until everything is gone.
func (r *rest) settle() {
	from := r.w.clock.Now()
	if !r.within(r.w.o.paced(restWithin)+r.w.workflows.longest(), r.unrest) {
		r.w.verdicts.broke(StandsStill, "not at rest %s after the last fault: %s", r.w.clock.Since(from), r.unrest())
	}
	r.settled = r.w.clock.Since(from) - r.w.workflows.lastWish(from)
	r.floors()
	if !r.within(max(r.w.o.Idle, r.w.o.Floors.Idle)+r.w.workflows.longest()+r.w.o.paced(40*time.Minute), r.left) { // a runner whose record was lost is swept on second sight
		r.w.verdicts.broke(StandsStill, "not empty %s after it came to rest: %s", r.w.clock.Since(from), r.left())
	}
}

// floors waits until each floor is exactly what it is to be, and takes it away. What was given back last may stay idle for its time.
func (r *rest) floors() {
	if !r.w.o.Floors.configured() {
		return
	}
	laws := r.w.truth.floors
	if limit := r.w.o.paced(restWithin) + max(r.w.o.Idle, r.w.o.Floors.Idle); !r.within(limit, laws.inexact) {
		r.w.verdicts.broke(Filled, "%s, %s after everything stood still", laws.inexact(), limit)
	}
	r.w.supervisor.unfloor()
}

// within waits until nothing is missing any more, or the story is spoilt. It looks last at each instant, so that a story that is
// told again finds the same.
func (r *rest) within(limit time.Duration, missing func() string) bool {
	for start := r.w.clock.Now(); r.w.clock.Since(start) < limit; {
		synctest.Wait()
		if missing() == "" || !r.w.sleep(r.w.o.paced(time.Second)) {
			return true
		}
	}
	return missing() == ""
}

// unrest says what is still to happen, "" if nothing: every workflow has ended, every request is answered and holds no more than
// it may, and every machine is pooled, runs for a request that is Ready, or has ended.
func (r *rest) unrest() string {
	if id := r.w.workflows.underWay(); id != "" {
		return "workflow " + id + " goes on"
	}
	known := r.w.truth.records
	known.mu.Lock()
	defer known.mu.Unlock()
	for id, st := range known.status {
		if st.Phase == statemachine.Pending {
			return "request " + string(id) + " is Pending"
		}
	}
	for id := range known.requests {
		latest := known.latest(id)
		if st := known.status[id]; latest.Released() && st.Phase != statemachine.PhaseReleased && st.ExpiresAt.IsZero() {
			return "request " + string(id) + " is given back and " + string(st.Phase)
		}
	}
	for id, in := range known.instances {
		switch in.State {
		case statemachine.Running:
			if known.status[in.RunID].Phase != statemachine.Ready {
				return "instance " + string(id) + " runs for " + string(in.RunID)
			}
		case statemachine.Idle:
			if in.PooledAt.IsZero() {
				return "instance " + string(id) + " is idle and not pooled"
			}
		case statemachine.Terminated:
		default:
			return "instance " + string(id) + " is " + string(in.State)
		}
	}
	return ""
}

// left says what is still there, "" if nothing: no machine, no open record, no runner at GitHub.
func (r *rest) left() string {
	if alive := r.w.fleet.Alive(); len(alive) > 0 {
		return "machine " + alive[0] + " lives"
	}
	known := r.w.truth.records
	known.mu.Lock()
	defer known.mu.Unlock()
	for id, in := range known.instances {
		if in.State != statemachine.Terminated || in.ExpiresAt.IsZero() {
			return "the record of " + string(id) + " is open"
		}
	}
	runners, err := r.w.hub.Runners(context.Background())
	switch {
	case err != nil:
		return "GitHub does not list its runners: " + err.Error()
	case len(runners) > 0:
		return "runner " + runners[0].Name + " is registered at GitHub"
	}
	return ""
}
