package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// tick is what rounding to the milliseconds of records may add to a limit.
const tick = time.Millisecond

// problems are what is wrong with a record.
type problems []string

func (p *problems) add(wrong bool, format string, args ...any) {
	if wrong {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// outsideTable finds records in which the fields contradict the state. Most of them the store refuses to
// write and to read; an altered one is also an unreadable-record then.
func outsideTable(s *Snapshot, o Options, report reporter) {
	for in := range each(s.Instances) {
		for _, problem := range wrongFields(in, o, s.run(in.RunID)) {
			report(Violation{
				Resource: "instance " + string(in.ID), Problem: problem, Definite: true, Mark: problem, Advice: fmt.Sprintf(adviceDrain, in.ID),
			})
		}
	}
	for r := range each(s.Runs) {
		if r.Status == nil {
			continue
		}
		for _, problem := range wrongStatus(r.Status) {
			report(Violation{Resource: "request " + string(r.ID), Problem: problem, Definite: true, Mark: problem, Advice: adviceReport})
		}
	}
}

// wrongFields lists the fields that the present state of an instance cannot have.
func wrongFields(in *Instance, o Options, r *Run) []string {
	var out problems
	wrong := out.add
	state, owned := in.State, in.State.Owned()
	if !state.Valid() {
		return []string{fmt.Sprintf("has state %q, which does not exist", state)}
	}
	wrong(owned && in.RunID == "", "is %s and has no runId", state)
	wrong(!owned && in.RunID != "", "is %s and has runId %s", state, in.RunID)
	wrong(owned && in.Attempt < 1, "is %s and has attempt %d", state, in.Attempt)
	wrong(!owned && in.Attempt != 0, "is %s and has attempt %d", state, in.Attempt)
	wrong(in.Assignment < 1, "has assignment %d", in.Assignment)
	wrong(state != statemachine.Idle && !in.PooledAt.IsZero(), "is %s and has pooledAt %s", state, stamp(in.PooledAt))
	wrong(state == statemachine.Idle && !in.PooledAt.IsZero() && in.PooledAt.Time.Before(in.Since.Time),
		"has pooledAt %s before since %s", stamp(in.PooledAt), stamp(in.Since))
	wrong(in.Since.IsZero() || in.Since.After(in.ChangedAt.Time), "has since %s and changedAt %s", stamp(in.Since), stamp(in.ChangedAt))
	if reg := in.Registration; reg.Serial > 0 {
		wrong(reg.Assignment > in.Assignment, "has a registration of assignment %d and is in assignment %d", reg.Assignment, in.Assignment)
		wrong(!strings.HasPrefix(reg.Name, string(in.ID)+"-"), "has a registration with the name of another: %q", reg.Name)
	}
	switch {
	case state == statemachine.Terminated:
		wrong(!in.Threshold.IsZero(), "is terminated and has threshold %s", stamp(in.Threshold))
		return out
	case in.Threshold.IsZero():
		wrong(true, "is %s and has no threshold", state)
	default:
		limit := limitOf(in, o, r)
		got := in.Threshold.Sub(in.ChangedAt.Time)
		wrong(got > limit+tick, "is %s with a threshold %s after its last change; at most %s is allowed", state, long(got), limit)
	}
	wrong(!in.ExpiresAt.IsZero(), "is %s and its record expires at %s", state, in.ExpiresAt.UTC().Format(time.RFC3339))
	return out
}

// limitOf is the longest that an instance may stay in its state without another change.
func limitOf(in *Instance, o Options, r *Run) time.Duration {
	if in.State != statemachine.Running {
		return o.Config.LimitsOf(in.ResourceClass).For(in.State)
	}
	if r == nil || r.Request == nil || r.Request.Attempt != in.Attempt {
		return o.maxRuntime(nil)
	}
	return max(o.maxRuntime(r.Request), promised(r.Status))
}

// wrongStatus lists the fields that the present phase of a request cannot have.
func wrongStatus(st *store.RunStatus) []string {
	var out problems
	missing := func(phase statemachine.Phase, field string, at store.Time) {
		out.add(st.Phase == phase && at.IsZero(), "is %s and has no %s", phase, field)
	}
	if !slices.Contains(statemachine.Phases(), st.Phase) {
		return []string{fmt.Sprintf("has phase %q, which does not exist", st.Phase)}
	}
	missing(statemachine.Pending, "deadline", st.Deadline)
	missing(statemachine.Pending, "pendingAt", st.PendingAt)
	missing(statemachine.Ready, "readyAt", st.ReadyAt)
	missing(statemachine.Failed, "failedAt", st.FailedAt)
	missing(statemachine.PhaseReleased, "releasedAt", st.ReleasedAt)
	out.add((st.Phase == statemachine.Pending || st.Phase == statemachine.Ready) && !st.ExpiresAt.IsZero(),
		"is %s and its record expires at %s", st.Phase, st.ExpiresAt.UTC().Format(time.RFC3339))
	return out
}

// outsideTableStep holds what changed to the tables. Between two looks there may have been many writes:
// then the state must be within their reach.
func outsideTableStep(was, is *Snapshot, _ Options, report reporter) {
	for in := range each(is.Instances) {
		before := was.instance(in.ID)
		if before == nil || !before.CreatedAt.Equal(in.CreatedAt) || before.Version == in.Version {
			continue
		}
		for _, problem := range wrongStep(&before.Instance, &in.Instance) {
			report(Violation{Resource: "instance " + string(in.ID), Problem: problem, Mark: fmt.Sprint(in.Version, problem), Advice: fmt.Sprintf(adviceDrain, in.ID)})
		}
	}
	for r := range each(is.Runs) {
		before := was.run(r.ID)
		if r.Status == nil || before == nil || before.Status == nil || !before.Status.ExpiresAt.IsZero() && is.At.After(before.Status.ExpiresAt) {
			continue
		}
		if problem := wrongPhase(before.Status, r.Status); problem != "" {
			report(Violation{Resource: "request " + string(r.ID), Problem: problem, Mark: fmt.Sprint(r.Status.Version, problem), Advice: adviceReport})
		}
	}
}

// wrongStep says how one record of an instance cannot follow another.
func wrongStep(was, is *store.Instance) []string {
	var out problems
	wrong := out.add
	writes := is.Version - was.Version
	if writes < 0 || is.Assignment < was.Assignment {
		return []string{fmt.Sprintf("went back from version %d, assignment %d to version %d, assignment %d", was.Version, was.Assignment, is.Version, is.Assignment)}
	}
	wrong(!reachable(was.State, is.State, writes), "went from %s to %s in %d writes", was.State, is.State, writes)
	wrong(was.RunID != is.RunID && was.Assignment == is.Assignment, "changed hands from %q to %q within assignment %d", was.RunID, is.RunID, is.Assignment)
	if writes != 1 {
		return out
	}
	changed := was.RunID != is.RunID
	wrong(changed && is.Assignment != was.Assignment+1 || !changed && is.Assignment != was.Assignment,
		"went from run %q to %q with assignment %d to %d", was.RunID, is.RunID, was.Assignment, is.Assignment)
	wrong(changed && was.RunID != "" && is.RunID != "", "passed from run %s to run %s without being free", was.RunID, is.RunID)
	wrong(is.State != statemachine.Terminated && !is.Threshold.Equal(was.Threshold) && !was.Threshold.After(is.ChangedAt.Time),
		"got a new threshold as %s %s after the old one had passed", is.State, long(is.ChangedAt.Sub(was.Threshold.Time)))
	wrong(was.State == statemachine.Idle && is.State == statemachine.Claimed && was.PooledAt.IsZero(), "was claimed and had not been pooled")
	return out
}

// reachable reports whether the table leads from one state to another in at most so many writes; not
// every write is a transition.
func reachable(from, to statemachine.State, writes int64) bool {
	reached := []statemachine.State{from}
	for range min(writes, int64(len(statemachine.States()))) {
		for _, r := range statemachine.Rules() {
			if slices.Contains(reached, r.From) && !slices.Contains(reached, r.To) {
				reached = append(reached, r.To)
			}
		}
	}
	return slices.Contains(reached, to)
}

// wrongPhase says how one status of a request cannot follow another.
func wrongPhase(was, is *store.RunStatus) string {
	switch {
	case is.Attempt < was.Attempt || is.Version < was.Version:
		return fmt.Sprintf("went back from version %d, attempt %d to version %d, attempt %d", was.Version, was.Attempt, is.Version, is.Attempt)
	case is.Attempt > was.Attempt || is.Phase == was.Phase:
		return "" // a new attempt begins at the beginning
	case was.Phase == statemachine.PhaseReleased || is.Phase == statemachine.Pending || was.Phase == statemachine.Failed && is.Phase == statemachine.Ready:
		return fmt.Sprintf("went from %s to %s", was.Phase, is.Phase)
	}
	return ""
}

func stamp(t store.Time) string {
	if t.IsZero() {
		return `""`
	}
	return t.Time.Format(time.RFC3339)
}
