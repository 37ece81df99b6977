package audit

import (
	"fmt"

	"github.com/remuda-run/remuda/statemachine"
)

// healthyKilled reads from the records of the dead why they died. A snapshot does not show what a machine
// was like before; what it said last, it does.
func healthyKilled(s *Snapshot, _ Options, report reporter) {
	for in := range each(s.Instances) {
		if in.State != statemachine.Terminated {
			continue
		}
		v := Violation{
			Resource: "instance " + string(in.ID), Definite: true,
			Advice: "report it with its record (`remuda status " + string(in.ID) + " -o json`) and the controller's log of that time",
		}
		switch busy := in.Heartbeat.Beat.Busy; {
		case in.Reason == "":
			v.Mark, v.Problem = "reason", "was terminated and no reason is recorded"
		case busy && (in.Reason == statemachine.ReasonDismissed || in.Reason == statemachine.ReasonGate):
			v.Mark, v.Problem = "busy", fmt.Sprintf("was terminated because %q while it ran a job", in.Reason)
			v.Definite = false // heartbeat and record are two items
		default:
			continue
		}
		report(v)
	}
}

// healthyKilledStep finds instances that ended by a threshold that had not passed.
func healthyKilledStep(was, is *Snapshot, _ Options, report reporter) {
	for in := range each(is.Instances) {
		before := was.instance(in.ID)
		if before == nil || in.Version != before.Version+1 || before.State == statemachine.Terminated ||
			in.Reason != statemachine.ReasonThreshold || !in.ChangedAt.Time.Before(before.Threshold.Time) {
			continue
		}
		report(Violation{
			Resource: "instance " + string(in.ID), Mark: "early",
			Problem: fmt.Sprintf("was terminated because %q, %s before it", in.Reason, long(before.Threshold.Sub(in.ChangedAt.Time))),
			Advice:  adviceReport,
		})
	}
}
