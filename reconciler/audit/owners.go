package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const (
	adviceDrain  = "end it with `remuda drain %s`, and report it with its record (`remuda status %[1]s -o json`)"
	adviceReport = "report it with the output of `remuda status --all -o json`"
)

// twoOwners holds records and statuses to each other: the run of a record, and the seats of a status.
func twoOwners(s *Snapshot, _ Options) []Violation {
	var out []Violation
	for i := 1; i < len(s.Instances); i++ {
		a, b := &s.Instances[i-1], &s.Instances[i]
		if a.ID == b.ID && a.State.Owned() && b.State.Owned() {
			out = append(out, Violation{
				Resource: "instance " + string(a.ID), Definite: true, Mark: "records",
				Problem: fmt.Sprintf("has two records, in the partitions of %s (owned by request %s) and %s (owned by request %s)",
					a.Instance.Principal, a.RunID, b.Instance.Principal, b.RunID),
				Advice: fmt.Sprintf(adviceDrain, a.ID),
			})
		}
	}
	for i := range s.Instances {
		if in := &s.Instances[i]; in.State.Owned() {
			if problem := wrongOwner(in, s.run(in.RunID)); problem != "" {
				out = append(out, Violation{
					Resource: "instance " + string(in.ID), Problem: problem, Mark: fmt.Sprint("owner ", in.Assignment),
					Advice: fmt.Sprintf(adviceDrain, in.ID),
				})
			}
		}
	}
	return append(out, foreignSeats(s)...)
}

// wrongOwner says why a record's owner cannot own it, if so.
func wrongOwner(in *Instance, r *Run) string {
	switch {
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
func foreignSeats(s *Snapshot) []Violation {
	var out []Violation
	var seats map[store.InstanceID]store.RequestID
	for i := range s.Runs {
		r := &s.Runs[i]
		if !r.ready() {
			continue
		}
		for _, seat := range r.Status.Instances {
			resource := "instance " + string(seat.InstanceID)
			if other, taken := seats[seat.InstanceID]; taken {
				out = append(out, Violation{
					Resource: resource, Problem: fmt.Sprintf("was given to request %s and to request %s", other, r.ID),
					Mark: fmt.Sprintf("seats %s %s", other, r.ID), Advice: fmt.Sprintf(adviceDrain, seat.InstanceID),
				})
			}
			if seats == nil {
				seats = map[store.InstanceID]store.RequestID{}
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
			out = append(out, Violation{
				Resource: resource, Problem: fmt.Sprintf("was given to request %s, and its record is %s by %s", r.ID, in.State, owner),
				Mark: fmt.Sprint("seat ", r.ID, in.Assignment), Advice: fmt.Sprintf(adviceDrain, seat.InstanceID),
			})
		}
	}
	return out
}

// foreignJob finds jobs, and runners that can get some, of a run that does not own their instance.
func foreignJob(s *Snapshot, o Options) []Violation {
	var out []Violation
	for _, j := range s.Jobs {
		if in := s.instance(j.Instance); in != nil && (in.State.Owned() || in.pooled()) && in.RunID != j.Run {
			out = append(out, Violation{
				Resource: "instance " + string(in.ID), Mark: fmt.Sprint("job ", j.Name),
				Problem: fmt.Sprintf("runs job %s of run %s and is %s", j.Name, j.Run, owned(in)), Advice: fmt.Sprintf(adviceDrain, in.ID),
			})
		}
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		b := in.Heartbeat
		if in.draining() && (in.State.Owned() || in.pooled()) && b.UpdatedAt.After(in.clean().Add(o.Config.Limits.Beat+o.Skew)) {
			out = append(out, Violation{
				Resource: "instance " + string(in.ID), Mark: fmt.Sprint("beat ", in.Assignment),
				Problem: fmt.Sprintf("is %s in assignment %d, and its agent says that a job of assignment %d runs", owned(in), in.Assignment, b.Beat.Assignment),
				Advice:  fmt.Sprintf(adviceDrain, in.ID),
			})
		}
	}
	if !s.GitHubRead {
		return out
	}
	for _, r := range s.Runners {
		in := s.ofRunner(r.Name)
		if in == nil || in.State == statemachine.Terminated || !r.Online && !r.Busy || labelled(r.Labels, in.RunID) {
			continue
		}
		from := in.clean()
		if in.State == statemachine.Idle && !in.pooled() {
			if in.draining() {
				continue
			}
			from = from.Add(o.Config.Limits.Handshake)
		}
		if s.At.Before(from.Add(githubLag + o.react())) {
			continue
		}
		state := "is online"
		if r.Busy {
			state = "runs a job"
		}
		out = append(out, Violation{
			Resource: "instance " + string(in.ID), Mark: fmt.Sprint("runner ", r.Name, in.Assignment),
			Problem: fmt.Sprintf("is %s, and its runner %s with the label %s %s at GitHub", owned(in), r.Name, strings.Join(r.Labels, ","), state),
			Advice:  "delete runner " + r.Name + " at GitHub; " + fmt.Sprintf(adviceDrain, in.ID),
		})
	}
	return out
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
	for _, l := range labels {
		if run != "" && strings.EqualFold(l, string(run)) {
			return true
		}
	}
	return false
}
