package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// unansweredRequest finds requests that wait for longer than they may, and answers that say nothing.
func unansweredRequest(s *Snapshot, o Options, report reporter) {
	for r := range each(s.Runs) {
		v := Violation{Resource: "request " + string(r.ID)}
		problem := func(definite bool, mark, advice, format string, args ...any) {
			v.Definite, v.Mark, v.Advice, v.Problem = definite, mark, advice, fmt.Sprintf(format, args...)
			report(v)
		}
		if req := r.Request; req != nil && req.ExpiresAt.IsZero() && (r.Status == nil || r.Status.Attempt < req.Attempt) &&
			s.At.After(req.CreatedAt.Add(o.scan())) {
			problem(false, fmt.Sprint("unseen ", req.Attempt), "look whether a controller leads on this store, and in its log",
				"attempt %d was submitted %s ago, and no controller has taken it up", req.Attempt, long(s.At.Sub(req.CreatedAt.Time)))
		}
		st := r.Status
		if st == nil {
			continue
		}
		switch st.Phase {
		case statemachine.Pending:
			given := r.Request != nil && r.Request.ReleasedAttempt >= st.Attempt // it is on its way back and needs no answer
			if !given && s.At.After(st.Deadline.Add(o.react())) {
				problem(false, fmt.Sprint("deadline ", st.Attempt), "look whether a controller leads on this store, and in its log",
					"attempt %d is Pending %s past its deadline", st.Attempt, long(s.At.Sub(st.Deadline.Time)))
			}
		case statemachine.Ready:
			if r.Request != nil && r.Request.Attempt == st.Attempt && len(st.Instances) > r.Request.Count { // fewer: a lost seat is being refilled
				problem(false, fmt.Sprint("count ", st.Attempt), adviceReport,
					"attempt %d is Ready with %d of %d instances", st.Attempt, len(st.Instances), r.Request.Count)
			}
			if end := st.ReadyAt.Add(o.longest(r)); s.At.After(end) && !waitsForLaunch(s, r.ID) {
				problem(false, fmt.Sprint("runtime ", st.Attempt), fmt.Sprintf("release it with `remuda release --id %s`, and look in the controller's log", r.ID),
					"attempt %d is Ready for %s, longer than its runtime and what follows", st.Attempt, long(s.At.Sub(st.ReadyAt.Time)))
			}
		case statemachine.Failed:
			if st.Reason == "" || st.Message == "" {
				problem(true, fmt.Sprint("reason ", st.Attempt), adviceReport, "attempt %d has failed and does not say why", st.Attempt)
			}
		case statemachine.PhaseReleased, statemachine.Unseen:
		}
	}
}

// longest is how long after Ready a request may still hold something: instances run to its end, and one
// that came just before may then boot to its own.
func (o Options) longest(r *Run) time.Duration {
	request := r.Request
	if request != nil && request.Attempt != r.Status.Attempt {
		request = nil
	}
	l := o.Config.Limits
	return max(o.maxRuntime(request), promised(r.Status)) + max(l.Created, l.Claimed) + o.scan()
}

// waitsForLaunch reports whether a launch of a request has no outcome yet; it holds the request.
func waitsForLaunch(s *Snapshot, id store.RequestID) bool {
	return slices.ContainsFunc(s.Launches, func(l store.Launch) bool {
		return !l.Done && slices.ContainsFunc(l.Seats, func(seat store.LaunchSeat) bool { return seat.RequestID == id })
	})
}

// tooManyLaunched adds up what was launched for each attempt, and what each launch brought.
func tooManyLaunched(s *Snapshot, o Options, report reporter) {
	open, launched, came := 0, map[store.RequestID]int{}, map[string]int{}
	spared, late := map[store.RequestID]int{}, map[store.InstanceID]bool{}
	for in := range each(s.Instances) {
		came[in.LaunchToken]++
		late[in.ID] = in.State == statemachine.Terminated && in.Reason == statemachine.ReasonGate
	}
	for l := range each(s.Launches) {
		if !l.Done {
			open += max(0, l.Count-came[l.Token]) // some may have their records already
		}
		for _, seat := range l.Seats {
			n := seat.Count
			if l.Done {
				n = len(seat.Instances)
			}
			if n > seat.Count {
				report(Violation{
					Resource: "launch " + l.Token, Definite: true, Mark: "seat " + string(seat.RequestID), Advice: adviceReport,
					Problem: fmt.Sprintf("gave request %s %d instances and was asked for %d", seat.RequestID, n, seat.Count),
				})
			}
			if r := s.run(seat.RequestID); r != nil && r.Request != nil && r.Request.Attempt == seat.Attempt {
				launched[seat.RequestID] += n
				if slices.ContainsFunc(seat.Instances, func(id store.InstanceID) bool { return late[id] }) {
					spared[seat.RequestID] = 1 // perhaps it was replaced for GitHub's sake, which counts for no budget (ADR 0015)
				}
			}
		}
	}
	for r := range each(s.Runs) {
		if r.Request == nil {
			continue
		}
		if n, budget := launched[r.ID], reconciler.LaunchBudget(r.Request.Count)+spared[r.ID]; n > budget {
			report(Violation{
				Resource: "request " + string(r.ID), Mark: fmt.Sprint("budget ", r.Request.Attempt),
				Problem: fmt.Sprintf("%d instances were launched for the %d of attempt %d; at most %d may be", n, r.Request.Count, r.Request.Attempt, budget),
				Advice:  "release it with `remuda release --id " + string(r.ID) + "`, and report it with the controller's log",
			})
		}
	}
	surplus(s, o, open, came, report)
}

// surplus holds what there is to what may be: came is how many records each launch has.
func surplus(s *Snapshot, o Options, open int, came map[string]int, report reporter) {
	live := 0
	for in := range each(s.Instances) {
		if in.State != statemachine.Terminated {
			live++
		}
	}
	for l := range each(s.Launches) {
		if came[l.Token] > l.Count {
			report(Violation{
				Resource: "launch " + l.Token, Mark: "came", Advice: adviceReport,
				Problem: fmt.Sprintf("brought %d instances and was asked for %d", came[l.Token], l.Count),
			})
		}
	}
	if most := o.Config.MaxInstances; open > 0 && live+open > most {
		report(Violation{
			Resource: "installation", Mark: "cap",
			Problem: fmt.Sprintf("%d instances live and %d more are being launched; caps.maxInstances is %d", live, open, most),
			Advice:  "nothing if the cap was just lowered; else report it with the controller's log",
		})
	}
}
