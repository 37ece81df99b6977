package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws that hold what the tested code says of its reasons to what the world shows.
const (
	Just   = "a request fails only if the world shows why"
	Caused = "a machine ends only if the world shows why"
	Freed  = "what a run holds is freed only once that run is over"
)

// justice holds each end, of a request or a machine, to what the world shows of its cause.
type justice struct {
	w       *World
	records *records
	facts   *facts
	terms   *terms
	floors  *floorLaws

	replaced int64 // the term that last replaced a machine because GitHub could not be reached
}

// just: each reason to fail is one of the world's.
func (j *justice) just(was, st store.RunStatus) {
	if st.Phase != statemachine.Failed || was.Phase == statemachine.Failed && was.Attempt == st.Attempt {
		return
	}
	r, now := j.records.requests[st.ID][st.Attempt], j.w.clock.Now()
	wrong := ""
	switch st.Reason {
	case reconciler.ReasonTimeout:
		from := r.at
		if st.OriginalCount > 0 {
			from = r.first // a client has taken it over, and that was not seen yet
		}
		if left := from.Add(r.Timeout.Duration()).Sub(now); left > 2*j.w.clocks.skew() {
			wrong = fmt.Sprintf("its time-out is in %s", left)
		}
	case reconciler.ReasonVanished:
		if r.NoWait {
			wrong = "it has no client"
			break
		}
		lastSeen := later(j.facts.seen[st.ID], r.at)
		if j.w.workflows.waitsFor(st.ID, st.Attempt) {
			lastSeen = later(lastSeen, j.facts.writable) // it lives, and could not say so
		}
		if silent := now.Sub(lastSeen); silent < j.w.o.paced(quietFor) {
			wrong = fmt.Sprintf("its client was seen, or could not be, %s ago", silent)
		}
	case reconciler.ReasonUnsatisfiable:
		if j.facts.satisfiable(r.RunRequest) {
			wrong = "the fleet has types that it allows"
		}
	case reconciler.ReasonCapacity:
		if !j.w.o.NoRetry || slices.ContainsFunc(j.facts.specs(r.RunRequest), j.w.fleet.Unbounded) && !j.w.outages.wasScarce() {
			wrong = "the fleet has room, or is to be asked again"
		}
	case reconciler.ReasonLaunchBudget:
		if got, least := j.facts.came[st.ID][st.Attempt]+j.facts.share[st.ID][st.Attempt], leastBudget(r.Count); got < least {
			wrong = fmt.Sprintf("%d machines came for it, of at least %d that may", got, least)
		}
	case reconciler.ReasonSpec:
		cfg := j.w.supervisor.config()
		_, configured := cfg.Classes[r.ResourceClass]
		if configured && r.Count <= cfg.MaxInstances && j.w.o.ItemLimit == 0 && !j.w.supervisor.reconfigured(settles) {
			wrong = "nothing is wrong with it"
		}
	case reconciler.ReasonBudget:
		if j.w.truth.money.last.Off == "" {
			wrong = "the budget leaves everything on"
		}
	default:
		wrong = "nobody knows that reason"
	}
	if wrong != "" {
		j.w.verdicts.broke(Just, "request %s/%d failed as %s: %s; %s", st.ID, st.Attempt, st.Reason, st.Message, wrong)
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
func (j *justice) caused(was, in store.Instance) {
	if was.State == statemachine.Terminated || in.State != statemachine.Terminated || was.State == statemachine.None {
		return
	}
	if j.w.listings.missing(string(in.ID)) {
		j.w.machines.disturb(string(in.ID)) // and its job with it
	}
	now := j.w.clock.Now()
	if (was.State == statemachine.Created || was.State == statemachine.Claimed) &&
		j.w.machines.lives(string(in.ID)) && !j.facts.listens(was.RunID)[string(in.ID)] {
		j.facts.spare(was.RunID, was.Attempt, j.terms.now)
	}
	switch {
	case j.w.machines.isDisturbed(string(in.ID)) || j.w.verdicts.waives(in.Reason):
	case !now.Before(was.Threshold.Add(-2 * j.w.clocks.skew())):
		if was.State == statemachine.Claimed && was.Registration.Assignment != was.Assignment && j.w.disturbances.late(was.Since.Time, registeredWithin) {
			j.w.verdicts.broke(Caused, "%s was claimed for %s/%d until its time passed, and nobody gave it a registration", in.ID, was.RunID, was.Attempt)
		}
		at := j.facts.asked[was.RunID][was.Attempt]
		if was.State == statemachine.Running && !at.IsZero() && now.Sub(later(at, j.facts.lastJob(was.RunID))) > j.w.o.paced(backWithin) {
			j.w.verdicts.broke(Caused, "%s was given back by %s/%d %s ago, no job of that runs, and its time passed before it was idle",
				in.ID, was.RunID, was.Attempt, now.Sub(at))
		}
	case j.facts.dismissed(was), j.floors.dismissed(was):
	case was.State == statemachine.Created && j.unneeded(was):
	case j.replacement(was, now):
	default:
		j.w.verdicts.broke(Caused, "%s was healthy and was terminated from %s, for %s/%d, %s before its threshold: %q %s",
			in.ID, was.State, was.RunID, was.Attempt, was.Threshold.Sub(now), in.Reason, in.Detail)
	}
}

// replacement reports whether a machine is the one that each leader may replace while listeners cannot reach GitHub: whether it or
// GitHub is ill cannot be told of a machine that is alone (ADR 0015).
func (j *justice) replacement(in store.Instance, now time.Time) bool {
	if in.State != statemachine.Created && in.State != statemachine.Claimed || !j.w.outages.wasCutOff(now) || j.replaced == j.terms.now {
		return false
	}
	j.replaced = j.terms.now
	return true
}

// registeredWithin is how long a claim may wait for its registration where nothing is out of order, at pace 1.
const registeredWithin = 20 * time.Second

// backWithin is how long before its threshold a machine must have been given back to be idle by then, whatever GitHub does, at
// pace 1: the store may be down for the last minutes.
const backWithin = 10 * time.Minute

// unneeded reports whether the request that a machine was launched for is over, and the machine never was ready for it.
func (j *justice) unneeded(in store.Instance) bool {
	st := j.records.status[in.RunID]
	ready, served := j.facts.readyAt[in.RunID][in.Attempt]
	outlived := served && !j.w.clock.Now().Before(ready.Add(j.records.requests[in.RunID][in.Attempt].MaxRuntime.Duration()-2*j.w.clocks.skew()))
	over := outlived || !j.facts.givenBack(in.RunID, in.Attempt).IsZero() || st.Attempt > in.Attempt ||
		st.Attempt == in.Attempt && (st.Phase == statemachine.Failed || st.Phase == statemachine.PhaseReleased)
	return over && !j.records.hasReported(in, store.RegOK)
}

// freed: a run keeps what it was given until somebody gives it back, another attempt takes its place, or it failed.
func (j *justice) freed(was, in store.Instance) {
	if !was.State.Owned() || in.State != statemachine.Idle || !j.facts.givenBack(was.RunID, was.Attempt).IsZero() {
		return
	}
	st := j.records.status[was.RunID]
	if was.State != statemachine.Running {
		return // it may be more than its request needs, or one that an older request needs: those who wait keep the line
	}
	if st.Attempt == was.Attempt && (st.Phase == statemachine.Ready || st.Phase == statemachine.Pending) {
		j.w.verdicts.broke(Freed, "%s was taken from %s/%d, which is %s, and nobody gave that back", in.ID, was.RunID, was.Attempt, st.Phase)
	}
}
