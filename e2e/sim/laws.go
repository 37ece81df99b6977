package sim

import (
	"slices"

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
	Kept         = "what floors keep"
	Secrets      = "invariant 10, a secret is its machine's alone"
	Names        = "G11 no runner name twice"
	Audit        = "what remuda audit checks"
	StandsStill  = "G11 it comes to rest"
)

// instanceLaws judge one write of an instance, in this order.
func (t *truth) instanceLaws() []func(was, in store.Instance) {
	return []func(was, in store.Instance){
		t.tables.edges, t.tables.reported, t.lifetimes.threshold, t.owners.owner, t.owners.secret, t.justice.caused,
		t.lifetimes.patient, t.handover.labelled, t.handover.paced, t.justice.freed, t.pooling.scrubbed, t.handover.comes, t.pooling.current, t.lifetimes.retired, t.floors.kept, t.warm.ended,
	}
}

// statusLaws judge one write of a status, in this order.
func (t *truth) statusLaws() []func(was, st store.RunStatus) {
	return []func(was, st store.RunStatus){
		t.tables.phases, t.tables.reasoned, t.owners.listed, t.owners.attempts, t.demand.inLine, t.justice.just,
		t.handover.nothingComes, t.handover.listening, t.handover.fits, t.runs.answered,
	}
}

// tables are the laws on what the tables of states and phases, and the words of an agent, allow.
type tables struct {
	w       *World
	records *records
}

// edges: an instance changes its state along the table (S02).
func (t *tables) edges(was, in store.Instance) {
	if was.State == in.State {
		return
	}
	if !slices.ContainsFunc(statemachine.Rules(), func(r statemachine.Rule) bool { return r.From == was.State && r.To == in.State }) {
		t.w.verdicts.broke(Tables, "%s: %s -> %s is no edge of the table", in.ID, was.State, in.State)
	}
}

// reported: nothing is handed over or pooled without the word of its agent (S04 S07 S09 S40 S41 S82 H18).
func (t *tables) reported(was, in store.Instance) {
	if was.State != statemachine.Running && in.State == statemachine.Running && !t.records.hasReported(in, store.RegOK) && !t.records.listened(in) {
		t.w.verdicts.broke(Tables, "%s: handed over to %s without a report of its listener", in.ID, in.RunID)
	}
	if was.PooledAt.IsZero() && !in.PooledAt.IsZero() && !t.records.hasReported(in, store.RemoveOK) {
		t.w.verdicts.broke(Tables, "%s: pooled without a report of being clean", in.ID)
	}
}

// phases: a request changes its phase along the table (S80).
func (t *tables) phases(was, st store.RunStatus) {
	switch {
	case st.Attempt < was.Attempt:
		t.w.verdicts.broke(Tables, "request %s: attempt %d after %d", st.ID, st.Attempt, was.Attempt)
	case st.Attempt > was.Attempt, was.OriginalCount > 0 && st.OriginalCount == 0 && st.Phase == statemachine.Pending: // or taken over
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
func (t *tables) reasoned(was, st store.RunStatus) {
	if want := t.records.requests[st.ID][st.Attempt].Count; st.Phase == statemachine.Ready && was.Phase != st.Phase && len(st.Instances) != want {
		t.w.verdicts.broke(Answered, "request %s is Ready with %d of %d instances", st.ID, len(st.Instances), want)
	}
	if st.Phase == statemachine.Failed && (st.Reason == "" || st.Message == "") {
		t.w.verdicts.broke(Answered, "request %s failed without a reason: %+v", st.ID, st)
	}
}
