package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws that hold what the tested code says of its reasons to what the world shows.
const (
	Just      = "a request fails only if the world shows why"
	Caused    = "a machine ends only if the world shows why"
	Nothing   = "a request that is Released has nothing on its way"
	Scrubbed  = "what is pooled was scrubbed after its last run"
	Freed     = "what a run holds is freed only once that run is over"
	Listening = "what a run is given listens under its label"
	Fits      = "what a run is given is what it asked for"
	Lapsed    = "a lease is taken once it has lapsed"
)

// just: each reason to fail is one of the world's.
func (t *truth) just(was, st store.RunStatus) {
	if st.Phase != statemachine.Failed || was.Phase == statemachine.Failed && was.Attempt == st.Attempt {
		return
	}
	r, now := t.records.requests[st.ID][st.Attempt], t.w.clock.Now()
	wrong := ""
	switch st.Reason {
	case reconciler.ReasonTimeout:
		if left := r.at.Add(r.Timeout.Duration()).Sub(now); left > 2*t.w.clocks.skew() {
			wrong = fmt.Sprintf("its time-out is in %s", left)
		}
	case reconciler.ReasonVanished:
		lastSeen := later(t.facts.seen[st.ID], r.at)
		if t.w.workflows.waitsFor(st.ID, st.Attempt) {
			lastSeen = later(lastSeen, t.facts.writable) // it lives, and could not say so
		}
		if silent := now.Sub(lastSeen); silent < t.w.o.paced(quietFor) {
			wrong = fmt.Sprintf("its client was seen, or could not be, %s ago", silent)
		}
	case reconciler.ReasonUnsatisfiable:
		if t.facts.satisfiable(r.RunRequest) {
			wrong = "the fleet has types that it allows"
		}
	case reconciler.ReasonCapacity:
		if !t.w.o.NoRetry || slices.ContainsFunc(t.facts.specs(r.RunRequest), t.w.fleet.Unbounded) && !t.w.outages.wasScarce() {
			wrong = "the fleet has room, or is to be asked again"
		}
	case reconciler.ReasonBudget:
		if got, least := t.facts.came[st.ID][st.Attempt]+t.facts.share[st.ID][st.Attempt], leastBudget(r.Count); got < least {
			wrong = fmt.Sprintf("%d machines came for it, of at least %d that may", got, least)
		}
	case reconciler.ReasonSpec:
		cfg := t.w.supervisor.config()
		_, configured := cfg.Classes[r.ResourceClass]
		if configured && r.Count <= cfg.MaxInstances && t.w.o.ItemLimit == 0 && !t.w.supervisor.reconfigured(settles) {
			wrong = "nothing is wrong with it"
		}
	default:
		wrong = "nobody knows that reason"
	}
	if wrong != "" {
		t.w.verdicts.broke(Just, "request %s/%d failed as %s: %s; %s", st.ID, st.Attempt, st.Reason, st.Message, wrong)
	}
}

// quietFor is how long the client of a waiting request may be silent, at pace 1, less what the controller's looks are apart and
// a beat takes.
const quietFor = 40 * time.Second

// leastBudget is how many machines must have come for nothing before their request may fail for it: docs/architecture.md,
// "Reconcilers". It is written out here so that the product's own sum is judged, too.
func leastBudget(count int) int { return count + max(3, count) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// caused: somebody hurt the machine, or its time is over, or it was ordered to go, or it is not needed: by the world, whatever
// reason was written down.
func (t *truth) caused(was, in store.Instance) {
	if was.State == statemachine.Terminated || in.State != statemachine.Terminated || was.State == statemachine.None {
		return
	}
	if t.w.listings.missing(string(in.ID)) {
		t.w.machines.disturb(string(in.ID)) // and its job with it
	}
	now := t.w.clock.Now()
	if (was.State == statemachine.Created || was.State == statemachine.Claimed) &&
		t.w.machines.lives(string(in.ID)) && !t.facts.listens(was.RunID)[string(in.ID)] {
		t.facts.spare(was.RunID, was.Attempt, t.terms.now)
	}
	switch {
	case t.w.machines.isDisturbed(string(in.ID)) || t.w.verdicts.waives(in.Reason):
	case !now.Before(was.Threshold.Add(-2 * t.w.clocks.skew())):
		if was.State == statemachine.Claimed && was.Registration.Assignment != was.Assignment && t.w.disturbances.late(was.Since.Time, registeredWithin) {
			t.w.verdicts.broke(Caused, "%s was claimed for %s/%d until its time passed, and nobody gave it a registration", in.ID, was.RunID, was.Attempt)
		}
		if at := t.facts.asked[was.RunID][was.Attempt]; was.State == statemachine.Running && !at.IsZero() && now.Sub(later(at, t.facts.lastJob(was.RunID))) > t.w.o.paced(backWithin) {
			t.w.verdicts.broke(Caused, "%s was given back by %s/%d %s ago, no job of that runs, and its time passed before it was idle", in.ID, was.RunID, was.Attempt, now.Sub(at))
		}
	case t.facts.dismissed(was):
	case was.State == statemachine.Created && t.unneeded(was):
	case t.replacement(was, now):
	default:
		t.w.verdicts.broke(Caused, "%s was healthy and was terminated from %s, for %s/%d, %s before its threshold: %q %s",
			in.ID, was.State, was.RunID, was.Attempt, was.Threshold.Sub(now), in.Reason, in.Detail)
	}
}

// replacement reports whether a machine is the one that each leader may replace while listeners cannot reach GitHub: whether it or
// GitHub is ill cannot be told of a machine that is alone (ADR 0015).
func (t *truth) replacement(in store.Instance, now time.Time) bool {
	if in.State != statemachine.Created && in.State != statemachine.Claimed || !t.w.outages.wasCutOff(now) || t.replaced == t.terms.now {
		return false
	}
	t.replaced = t.terms.now
	return true
}

// registeredWithin is how long a claim may wait for its registration where nothing is out of order, at pace 1.
const registeredWithin = 20 * time.Second

// backWithin is how long before its threshold a machine must have been given back to be idle by then, whatever GitHub does, at
// pace 1: the store may be down for the last minutes.
const backWithin = 10 * time.Minute

// unneeded reports whether the request that a machine was launched for is over, and the machine never was ready for it.
func (t *truth) unneeded(in store.Instance) bool {
	st := t.records.status[in.RunID]
	ready, served := t.facts.readyAt[in.RunID][in.Attempt]
	outlived := served && !t.w.clock.Now().Before(ready.Add(t.records.requests[in.RunID][in.Attempt].MaxRuntime.Duration()-2*t.w.clocks.skew()))
	over := outlived || !t.facts.givenBack(in.RunID, in.Attempt).IsZero() || st.Attempt > in.Attempt ||
		st.Attempt == in.Attempt && (st.Phase == statemachine.Failed || st.Phase == statemachine.PhaseReleased)
	return over && !t.records.hasReported(in, store.RegOK)
}

// freed: a run keeps what it was given until somebody gives it back, another attempt takes its place, or it failed.
func (t *truth) freed(was, in store.Instance) {
	if !was.State.Owned() || in.State != statemachine.Idle || !t.facts.givenBack(was.RunID, was.Attempt).IsZero() {
		return
	}
	st := t.records.status[was.RunID]
	if was.State != statemachine.Running {
		return // it may be more than its request needs, or one that an older request needs: those who wait keep the line
	}
	if st.Attempt == was.Attempt && (st.Phase == statemachine.Ready || st.Phase == statemachine.Pending) {
		t.w.verdicts.broke(Freed, "%s was taken from %s/%d, which is %s, and nobody gave that back", in.ID, was.RunID, was.Attempt, st.Phase)
	}
}

// scrubbed: a machine that is offered was scrubbed after the last listener on it had ended.
func (t *truth) scrubbed(was, in store.Instance) {
	if !was.PooledAt.IsZero() || in.PooledAt.IsZero() {
		return
	}
	if t.w.machines.soiled(string(in.ID)) {
		t.w.verdicts.broke(Scrubbed, "%s was pooled, and nobody scrubbed it since its last listener", in.ID)
	}
}

// nothingComes: who is Released has no launch that goes on, and gets no machine any more.
func (t *truth) nothingComes(was, st store.RunStatus) {
	if st.Phase != statemachine.PhaseReleased {
		delete(t.over, st.ID)
		return
	}
	if was.Phase == statemachine.PhaseReleased {
		return
	}
	t.over[st.ID] = t.w.clock.Now()
	for token, l := range t.records.launches {
		if !l.Done && slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == st.ID }) {
			t.w.verdicts.broke(Nothing, "request %s is Released while launch %s goes on", st.ID, token)
		}
	}
}

// comes: nothing is launched or claimed for a request that is Released.
func (t *truth) comes(was, in store.Instance) {
	if !in.State.Owned() || was.RunID == in.RunID {
		return
	}
	if at, over := t.over[in.RunID]; over && in.Attempt <= t.records.status[in.RunID].Attempt {
		t.w.verdicts.broke(Nothing, "%s became %s for request %s %s after that was Released", in.ID, in.State, in.RunID, t.w.clock.Since(at))
	}
}

// online: an agent says that its listener serves a run once GitHub has seen it.
func (t *truth) online(p store.Principal, v store.SignalValue) {
	if v.Signal != store.RegOK || t.w.outages.wasCutOff(t.w.clock.Now()) || t.w.since() == 0 {
		return // what was there before nobody says now
	}
	for id, in := range t.records.instances {
		waited := in.Principal == p && in.RunID == v.RunID && in.Assignment == v.Assignment && in.State != statemachine.Running
		if waited && !t.w.machines.isDisturbed(string(id)) && !t.facts.ranFor(id, v.RunID) && !t.facts.listens(v.RunID)[string(id)] {
			t.w.verdicts.broke(Listening, "the agent of %s says that its listener serves %s, and none is online", id, v.RunID)
		}
	}
}

// listening: at the moment of the answer GitHub knows a runner under the run's label on each machine, online.
func (t *truth) listening(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready || !t.w.disturbances.calm() {
		return
	}
	online := t.facts.listens(st.ID)
	for _, seat := range st.Instances {
		if !online[string(seat.InstanceID)] && !t.w.machines.isDisturbed(string(seat.InstanceID)) && !t.facts.ranFor(seat.InstanceID, st.ID) {
			t.w.verdicts.broke(Listening, "request %s is Ready with %s, which does not listen under its label", st.ID, seat.InstanceID)
		}
	}
}

// fits: each machine is of the class, the usage class and the types that were asked for, by the fleet's word.
func (t *truth) fits(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready && len(was.Instances) == len(st.Instances) {
		return
	}
	r := t.records.requests[st.ID][st.Attempt]
	for _, seat := range st.Instances {
		m, known := t.w.fleet.Machine(string(seat.InstanceID))
		if known && (m.ResourceClass != r.ResourceClass || !slices.Contains(r.UsageClasses, m.UsageClass) || !glob.Any(r.AllowedInstanceTypes, m.InstanceType)) {
			t.w.verdicts.broke(Fits, "request %s/%d asked for %s, %v, types %v and was given %s: %s, %s, %s", st.ID, st.Attempt,
				r.ResourceClass, r.UsageClasses, r.AllowedInstanceTypes, m.ID, m.ResourceClass, m.UsageClass, m.InstanceType)
		}
	}
}

// lapsed: nobody takes a lease that was renewed within its time to live, by one clock for all.
func (t *truth) lapsed(was, l store.Lease) {
	now := t.w.clock.Now()
	if least := t.w.supervisor.config().LeaseTTL * 9 / 10; l.Term > was.Term && was.Holder != "" && l.Holder != was.Holder && now.Sub(t.renewed) < least {
		t.w.verdicts.broke(Lapsed, "%s took the lease of %s %s after that was written", l.Holder, was.Holder, now.Sub(t.renewed))
	}
	t.renewed = now
}
