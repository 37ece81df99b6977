package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const (
	adviceDrain  = "end it with `remuda drain %s`, and report it with its record (`remuda status %[1]s -o json`)"
	adviceReport = "report it with the output of `remuda status --all -o json`"
)

// ofInstance is a violation by an instance that had better be drained.
func ofInstance(id store.InstanceID, mark, problem string, args ...any) Violation {
	return Violation{Resource: "instance " + string(id), Mark: mark, Problem: fmt.Sprintf(problem, args...), Advice: fmt.Sprintf(adviceDrain, id)}
}

// twoOwners holds records and statuses to each other: the run of a record, and the seats of a status.
func twoOwners(s *Snapshot, _ Options, report reporter) {
	for i := 1; i < len(s.Instances); i++ {
		a, b := &s.Instances[i-1], &s.Instances[i]
		if a.ID == b.ID && a.State.Owned() && b.State.Owned() {
			v := ofInstance(a.ID, "records", "has two records, in the partitions of %s (owned by request %s) and %s (owned by request %s)",
				a.Instance.Principal, a.RunID, b.Instance.Principal, b.RunID)
			v.Definite = true
			report(v)
		}
	}
	for in := range each(s.Instances) {
		if _, floor := in.RunID.Floor(); floor {
			continue // launched for no request
		}
		if problem := wrongOwner(in, s.run(in.RunID)); problem != "" {
			report(ofInstance(in.ID, fmt.Sprint("owner ", in.Assignment), "%s", problem))
		}
	}
	foreignSeats(s, report)
}

// wrongOwner says why a record's owner cannot own it, if so.
func wrongOwner(in *Instance, r *Run) string {
	switch {
	case !in.State.Owned():
	case r == nil || r.Request == nil && r.Status == nil:
		return fmt.Sprintf("is %s by request %s, which does not exist", in.State, in.RunID)
	case r.Request != nil && in.Attempt > r.Request.Attempt:
		return fmt.Sprintf("is %s by attempt %d of request %s, which is at attempt %d", in.State, in.Attempt, in.RunID, r.Request.Attempt)
	case r.Status != nil && r.Status.Phase == statemachine.PhaseReleased && in.Attempt <= r.Status.Attempt:
		return fmt.Sprintf("is %s by request %s, whose attempt %d is Released and so holds nothing", in.State, in.RunID, r.Status.Attempt)
	}
	return ""
}

// foreignSeats finds instances that a request was given, and has not given back, and that are not its own.
func foreignSeats(s *Snapshot, report reporter) {
	seats := map[store.InstanceID]store.RequestID{}
	for r := range each(s.Runs) {
		if !r.ready() {
			continue
		}
		for _, seat := range r.Status.Instances {
			if other, taken := seats[seat.InstanceID]; taken {
				report(ofInstance(seat.InstanceID, fmt.Sprintf("seats %s %s", other, r.ID), "was given to request %s and to request %s", other, r.ID))
			}
			seats[seat.InstanceID] = r.ID
			in := s.instance(seat.InstanceID)
			if in == nil || in.State == statemachine.Terminated || in.RunID == r.ID {
				continue // lost seats are filled again
			}
			owner := "no request"
			if in.RunID != "" {
				owner = "request " + string(in.RunID)
			}
			report(ofInstance(in.ID, fmt.Sprint("seat ", r.ID, in.Assignment), "was given to request %s, and its record is %s by %s", r.ID, in.State, owner))
		}
	}
}

// foreignJob finds jobs, and runners that can get some, of a run that does not own their instance.
func foreignJob(s *Snapshot, o Options, report reporter) {
	for _, j := range s.Jobs {
		if in := s.instance(j.Instance); in != nil && (in.State.Owned() || in.pooled()) && in.RunID != j.Run {
			report(ofInstance(in.ID, fmt.Sprint("job ", j.Name), "runs job %s of run %s and is %s", j.Name, j.Run, owned(in)))
		}
	}
	for in := range each(s.Instances) {
		b := in.Heartbeat
		if in.draining() && (in.State.Owned() || in.pooled()) && b.UpdatedAt.After(in.clean().Add(in.Limits.Over(o.Config.Limits).Beat+o.Skew)) {
			report(ofInstance(in.ID, fmt.Sprint("beat ", in.Assignment),
				"is %s in assignment %d, and its agent says that a job of assignment %d runs", owned(in), in.Assignment, b.Beat.Assignment))
		}
	}
	if !s.GitHubRead {
		return
	}
	for _, r := range s.Runners {
		in := s.ofRunner(r.Name)
		if in == nil || in.State == statemachine.Terminated || !r.Online && !r.Busy || labelled(r.Labels, in.RunID) || waitsAhead(in, r) {
			continue
		}
		from := in.clean()
		if in.State == statemachine.Idle && !in.pooled() {
			if in.draining() {
				continue
			}
			from = from.Add(in.Limits.Over(o.Config.Limits).Handshake)
		}
		if s.At.Before(from.Add(githubLag + o.react())) {
			continue
		}
		state := "is online"
		if r.Busy {
			state = "runs a job"
		}
		report(Violation{
			Resource: "instance " + string(in.ID), Mark: fmt.Sprint("runner ", r.Name, in.Assignment),
			Problem: fmt.Sprintf("is %s, and its runner %s with the label %s %s at GitHub", owned(in), r.Name, strings.Join(r.Labels, ","), state),
			Advice:  "delete runner " + r.Name + " at GitHub; " + fmt.Sprintf(adviceDrain, in.ID),
		})
	}
}

// waitsAhead reports whether a runner is the one that its instance listens under ahead, and has no label but its own: no job
// can reach it.
func waitsAhead(in *Instance, r githubapi.Runner) bool {
	return in.Ahead() && strings.EqualFold(r.Name, in.Registration.Name) &&
		!slices.ContainsFunc(r.Labels, func(l string) bool { return !strings.HasPrefix(l, reconciler.IdleLabel) })
}

// clean is since when no job of an earlier assignment can run: an instance is pooled before it is claimed.
func (in *Instance) clean() time.Time {
	if in.pooled() {
		return in.PooledAt.Time
	}
	return in.Since.Time
}

// owned says whose an instance is.
func owned(in *Instance) string {
	switch {
	case in.State.Owned():
		return fmt.Sprintf("%s by request %s", in.State, in.RunID)
	case in.pooled():
		return "idle and offered"
	}
	return string(in.State)
}

// labelled reports whether a runner serves a run. Labels ignore case.
func labelled(labels []string, run store.RequestID) bool {
	return run != "" && slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, string(run)) })
}
