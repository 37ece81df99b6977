package sim

import (
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Bounds of the laws below, at pace 1.
const (
	answeredAfter    = 10 * time.Second // how long after its seats are handed over a request may be answered: a crash comes between
	lateAfter        = 2 * time.Minute  // invariant 3, past the threshold
	orphanMachineFor = 4 * time.Minute  // invariant 4: the orphan interval, a few sweeps and a slow launch
)

// lifetimes are the laws on how long a machine lives: no longer than its time, no shorter while it is healthy, and with a record.
type lifetimes struct {
	w       *World
	records *records
	facts   *facts
	terms   *terms
}

// threshold: within its limit, and no transition after the old one but to the end (S19 S24).
func (l *lifetimes) threshold(was, in store.Instance) {
	if in.State == statemachine.Terminated || was.Threshold.Equal(in.Threshold) && was.State == in.State {
		return
	}
	if was.State != statemachine.None && !was.Threshold.After(in.ChangedAt.Time) {
		l.w.verdicts.broke(InTime, "%s: %s -> %s %s past its threshold", in.ID, was.State, in.State, in.ChangedAt.Sub(was.Threshold.Time))
	}
	limit := l.w.supervisor.config().LimitsOf(in.ResourceClass).For(in.State)
	if in.State == statemachine.Running {
		limit = l.records.requests[in.RunID][in.Attempt].MaxRuntime.Duration()
	}
	if class, floor := was.RunID.Floor(); floor && in.State == statemachine.Idle {
		limit = l.w.supervisor.config().FloorStep(class)
	}
	got := in.Threshold.Sub(in.ChangedAt.Time)
	exact := was.State != in.State && in.State != statemachine.Running // refilled seats run for the rest of the run's time
	behind := 2 * l.w.clocks.skew()                                    // the clock of a new leader, of the last change
	if ready, known := l.facts.readyAt[in.RunID][in.Attempt]; known && in.State == statemachine.Running {
		// A seat that is refilled runs for the rest of the run's time.
		if over := in.Threshold.Sub(ready.Add(limit)); over > 2*l.w.clocks.skew()+l.w.o.paced(answeredAfter) {
			l.w.verdicts.broke(InTime, "%s: may run %s past the end of %s/%d", in.ID, over, in.RunID, in.Attempt)
		}
	}
	if got > limit || got <= 0 || exact && got < limit-behind {
		l.w.verdicts.broke(InTime, "%s: %s -> %s with a threshold in %s, want %s", in.ID, was.State, in.State, got, limit)
	}
}

// patient: a machine that is online for a request is renewed while the others are awaited (H28), and goes back
// when the request is over (H25): its time does not pass. Where much goes wrong it may.
func (l *lifetimes) patient(was, in store.Instance) {
	if in.Reason != statemachine.ReasonThreshold || was.State != statemachine.Claimed && was.State != statemachine.Created {
		return
	}
	online := store.SignalValue{Signal: store.RegOK, RunID: was.RunID, Assignment: was.Assignment}
	if l.records.last[was.Principal] == online && len(l.w.o.Rates) == 0 && !l.w.machines.isDisturbed(string(in.ID)) && !l.w.outages.wasDown() {
		l.w.verdicts.broke(HealthyLives, "%s was online for %s/%d and %s until its time was over", in.ID, was.RunID, was.Attempt, was.State)
	}
}

// retired: a record is given up once its machine is gone (H06).
func (l *lifetimes) retired(was, in store.Instance) {
	_, known := l.w.fleet.Machine(string(in.ID))
	if was.ExpiresAt.IsZero() && !in.ExpiresAt.IsZero() && known && l.w.machines.lives(string(in.ID)) && !l.w.listings.missing(string(in.ID)) {
		l.w.verdicts.broke(Known, "the record of %s is given up, and its machine lives", in.ID)
	}
}

// halted: a machine ends itself only past its time, or on order. One that was cut off when its time was set anew may not know of that.
func (l *lifetimes) halted(id, why string) {
	l.records.mu.Lock()
	defer l.records.mu.Unlock()
	in := l.records.instances[store.InstanceID(id)]
	if in.State != statemachine.Terminated {
		l.w.transcript.tellf("%s halts itself: %s", id, why)
	}
	if in.State != statemachine.Terminated && in.State != statemachine.None && l.w.clock.Now().Before(in.Threshold.Add(-l.w.clocks.skew())) &&
		!l.w.machines.wasDisturbed(id, in.Since.Time) {
		l.w.verdicts.broke(HealthyLives, "%s (%s) halted %s before its threshold: %s", id, in.State, in.Threshold.Sub(l.w.clock.Now()), why)
	}
	l.w.machines.disturb(id)
}

// inTime: no machine outlives its time, and none lives long without a record.
func (l *lifetimes) inTime() {
	now, every, late := l.w.clock.Now(), l.w.o.paced(patrolEvery), l.w.o.paced(lateAfter)
	for _, id := range l.w.fleet.Alive() {
		m, _ := l.w.fleet.Machine(id)
		l.records.mu.Lock()
		in, known := l.records.instances[store.InstanceID(id)]
		switch {
		case !known && m.LaunchToken == ofNobody:
			// Each leader must see it for a while: those that die soon end none.
			if l.w.disturbances.late(later(m.LaunchedAt, l.terms.ledSince), orphanMachineFor) {
				l.w.verdicts.once(Known, id, "machine %s lives for %s, and nobody knows it", id, now.Sub(m.LaunchedAt))
			}
		case !known:
			if over := now.Sub(m.LaunchedAt.Add(l.w.o.paced(orphanMachineFor))); over > 0 && over <= every {
				l.w.verdicts.broke(Known, "machine %s lives for %s and has no record", id, now.Sub(m.LaunchedAt))
			}
		default:
			end := in.Threshold.Add(late + l.w.clocks.skew())
			if in.State == statemachine.Terminated {
				end = in.Since.Add(late + l.w.clocks.skew())
			}
			if l.w.refusals.isIll(in.ID) {
				break
			}
			end = later(end, l.w.begin.Add(max(l.w.outages.refusals(), l.w.outages.throttledUntil())+late))
			if over := now.Sub(end); over > 0 && over <= every {
				l.w.verdicts.broke(InTime, "machine %s (%s) outlived its time by %s", id, in.State, over+late)
			}
		}
		l.records.mu.Unlock()
	}
}
