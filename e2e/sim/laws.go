package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Names of the laws, after the invariants of docs/architecture.md#invariants and G11 in docs/goals.md.
const (
	OneOwner     = "invariant 1, one owner"
	OwnJob       = "invariant 2, jobs on their own machines"
	InTime       = "invariant 3, no machine outlives its time"
	Known        = "invariant 4, every machine is known"
	Reachable    = "invariant 5, every idle machine can be reached"
	HealthyLives = "invariant 6, nothing healthy dies"
	Answered     = "invariant 7, every request gets an answer"
	Needed       = "invariant 8, no more machines than needed"
	Tables       = "invariant 9, only changes of the tables"
	Secrets      = "invariant 10, a secret is its machine's alone"
	Names        = "G11 no runner name twice"
	Audit        = "what remuda audit checks"
	StandsStill  = "G11 it comes to rest"
)

// instanceLaws judge one write of an instance.
var instanceLaws = []struct {
	name  string
	check func(t *truth, was, in store.Instance)
}{
	{Tables, (*truth).edges},
	{Tables, (*truth).reported},
	{InTime, (*truth).threshold},
	{OneOwner, (*truth).owner},
	{Secrets, (*truth).secret},
	{Caused, (*truth).caused},
	{HealthyLives, (*truth).patient},
	{Freed, (*truth).freed},
	{Scrubbed, (*truth).scrubbed},
	{Nothing, (*truth).comes},
	{Current, (*truth).current},
	{Known, (*truth).retired},
}

// statusLaws judge one write of a status.
var statusLaws = []struct {
	name  string
	check func(t *truth, was, st store.RunStatus)
}{
	{Tables, (*truth).phases},
	{Answered, (*truth).reasoned},
	{OneOwner, (*truth).listed},
	{OneOwner, (*truth).attempts},
	{Answered, (*truth).inLine},
	{Just, (*truth).just},
	{Nothing, (*truth).nothingComes},
	{Listening, (*truth).listening},
	{Fits, (*truth).fits},
}

// edges: an instance changes its state along the table (S02).
func (t *truth) edges(was, in store.Instance) {
	if was.State == in.State {
		return
	}
	if !slices.ContainsFunc(statemachine.Rules(), func(r statemachine.Rule) bool { return r.From == was.State && r.To == in.State }) {
		t.w.verdicts.broke(Tables, "%s: %s -> %s is no edge of the table", in.ID, was.State, in.State)
	}
}

// reported: nothing is handed over or pooled without the word of its agent (S04 S07 S09 S40 S41 S82 H18).
func (t *truth) reported(was, in store.Instance) {
	if was.State != statemachine.Running && in.State == statemachine.Running && !t.records.hasReported(in, store.RegOK) {
		t.w.verdicts.broke(Tables, "%s: handed over to %s without a report of its listener", in.ID, in.RunID)
	}
	if was.PooledAt.IsZero() && !in.PooledAt.IsZero() && !t.records.hasReported(in, store.RemoveOK) {
		t.w.verdicts.broke(Tables, "%s: pooled without a report of being clean", in.ID)
	}
}

// threshold: within its limit, and no transition after the old one but to the end (S19 S24).
func (t *truth) threshold(was, in store.Instance) {
	if in.State == statemachine.Terminated || was.Threshold.Equal(in.Threshold) && was.State == in.State {
		return
	}
	if was.State != statemachine.None && !was.Threshold.After(in.ChangedAt.Time) {
		t.w.verdicts.broke(InTime, "%s: %s -> %s %s past its threshold", in.ID, was.State, in.State, in.ChangedAt.Sub(was.Threshold.Time))
	}
	limit := t.w.supervisor.config().Limits.For(in.State)
	if in.State == statemachine.Running {
		limit = t.records.requests[in.RunID][in.Attempt].MaxRuntime.Duration()
	}
	got := in.Threshold.Sub(in.ChangedAt.Time)
	exact := was.State != in.State && in.State != statemachine.Running // refilled seats run for the rest of the run's time
	behind := 2 * t.w.clocks.skew()                                    // the clock of a new leader, of the last change
	if ready, known := t.facts.readyAt[in.RunID][in.Attempt]; known && in.State == statemachine.Running {
		// A seat that is refilled runs for the rest of the run's time.
		if over := in.Threshold.Sub(ready.Add(limit)); over > 2*t.w.clocks.skew()+t.w.o.paced(answeredAfter) {
			t.w.verdicts.broke(InTime, "%s: may run %s past the end of %s/%d", in.ID, over, in.RunID, in.Attempt)
		}
	}
	if got > limit || got <= 0 || exact && got < limit-behind {
		t.w.verdicts.broke(InTime, "%s: %s -> %s with a threshold in %s, want %s", in.ID, was.State, in.State, got, limit)
	}
}

// answeredAfter is how long after its seats are handed over a request may be answered, at pace 1: a crash comes between.
const answeredAfter = 10 * time.Second

// owner: from nobody to one run and back, with a new assignment each time (S05 S06 S68 H40).
func (t *truth) owner(was, in store.Instance) {
	if was.RunID == in.RunID && was.Assignment == in.Assignment {
		return
	}
	if in.Assignment != was.Assignment+1 {
		t.w.verdicts.broke(OneOwner, "%s: run %q -> %q with assignment %d -> %d", in.ID, was.RunID, in.RunID, was.Assignment, in.Assignment)
	}
	if was.RunID != "" && in.RunID != "" {
		t.w.verdicts.broke(OneOwner, "%s: passed from run %s to run %s without being free", in.ID, was.RunID, in.RunID)
	}
	h := t.history[in.ID]
	if len(h) > 0 && h[len(h)-1].to.IsZero() {
		h[len(h)-1].to = t.w.clock.Now()
	}
	if in.RunID != "" {
		h = append(h, ownership{run: in.RunID, from: t.w.clock.Now()})
	}
	t.history[in.ID] = h
}

// secret: only for the present assignment of an owned instance, and of no other (H43).
func (t *truth) secret(_, in store.Instance) {
	r := in.Registration
	if r.Secret == "" {
		return
	}
	if !r.Sealed() && !t.keyless[in.Principal] {
		t.w.verdicts.broke(Secrets, "%s: the secret of %s can be read by anyone who reads its record", in.ID, r.Name)
	}
	if !in.State.Owned() || r.Assignment != in.Assignment {
		t.w.verdicts.broke(Secrets, "%s is %s in assignment %d and keeps the secret of assignment %d", in.ID, in.State, in.Assignment, r.Assignment)
	}
	if r.Mode != store.JIT {
		return // one token serves the runs of an hour
	}
	mine := fmt.Sprintf("%s/%d", in.ID, r.Serial)
	if other, known := t.secrets[r.Secret]; known && other != mine {
		t.w.verdicts.broke(Secrets, "the secret of %s was given to %s too", other, mine)
	}
	t.secrets[r.Secret] = mine
}

// phases: a request changes its phase along the table (S80).
func (t *truth) phases(was, st store.RunStatus) {
	switch {
	case st.Attempt < was.Attempt:
		t.w.verdicts.broke(Tables, "request %s: attempt %d after %d", st.ID, st.Attempt, was.Attempt)
	case st.Attempt > was.Attempt:
		if st.Phase != statemachine.Pending {
			t.w.verdicts.broke(Tables, "request %s: attempt %d begins as %s", st.ID, st.Attempt, st.Phase)
		}
	case st.Phase != was.Phase && !slices.ContainsFunc(statemachine.RequestRules(), func(r statemachine.RequestRule) bool {
		return r.From == was.Phase && r.To == st.Phase
	}):
		t.w.verdicts.broke(Tables, "request %s: %s -> %s is no edge of the table", st.ID, was.Phase, st.Phase)
	}
}

// reasoned: an answer says what it has to.
func (t *truth) reasoned(was, st store.RunStatus) {
	if want := t.records.requests[st.ID][st.Attempt].Count; st.Phase == statemachine.Ready && was.Phase != st.Phase && len(st.Instances) != want {
		t.w.verdicts.broke(Answered, "request %s is Ready with %d of %d instances", st.ID, len(st.Instances), want)
	}
	if st.Phase == statemachine.Failed && (st.Reason == "" || st.Message == "") {
		t.w.verdicts.broke(Answered, "request %s failed without a reason: %+v", st.ID, st)
	}
}

// listed: what is Released holds nothing, and no instance is listed by two that are Ready.
func (t *truth) listed(_, st store.RunStatus) {
	switch st.Phase {
	case statemachine.PhaseReleased:
		for _, in := range t.records.instances {
			if in.RunID == st.ID {
				t.w.verdicts.broke(OneOwner, "request %s is Released and holds %s", st.ID, in.ID)
			}
		}
	case statemachine.Ready:
		for _, seat := range st.Instances {
			if in := t.records.instances[seat.InstanceID]; in.RunID != st.ID && in.State != statemachine.Terminated {
				t.w.verdicts.broke(OneOwner, "request %s lists %s, which is %q's", st.ID, seat.InstanceID, in.RunID)
			}
		}
	case statemachine.Pending, statemachine.Failed, statemachine.Unseen:
	}
}

// launchedNeeded: at most so many machines come for one attempt, and one more for each leader that may have replaced one for
// GitHub's sake.
func (t *truth) launchedNeeded(l store.Launch) {
	for _, seat := range l.Seats {
		got := 0
		for _, other := range t.records.launches {
			for _, s := range other.Seats {
				if s.RequestID == seat.RequestID && s.Attempt == seat.Attempt {
					got += len(s.Instances)
				}
			}
		}
		want := t.records.requests[seat.RequestID][seat.Attempt].Count
		if budget := leastBudget(want) + len(t.facts.spared[seat.RequestID][seat.Attempt]); got > budget {
			t.w.verdicts.broke(Needed, "%d machines were launched for %d seats of %s/%d, at most %d may be", got, want, seat.RequestID, seat.Attempt, budget)
		}
	}
}
