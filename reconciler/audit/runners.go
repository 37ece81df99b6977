package audit

import (
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
)

// orphanRunner finds runners of ours that their instance does not use any more: offline ones the sweep of
// runners should have deleted, online ones should not be. Those of instances whose records have expired,
// or of another installation, cannot be told apart, and count as none here.
func orphanRunner(s *Snapshot, o Options, report reporter) {
	if !s.GitHubRead {
		return
	}
	for _, r := range s.Runners {
		in := s.ofRunner(r.Name)
		if in == nil || (in.State.Owned() || in.State == statemachine.Idle && in.Ahead()) && strings.EqualFold(r.Name, in.Registration.Name) && in.Registration.Assignment == in.Assignment {
			continue
		}
		v := Violation{Resource: "runner " + r.Name, Mark: fmt.Sprint(in.State, in.Assignment, r.Online), Advice: "delete it at GitHub, and look in the controller's log why it could not"}
		from := in.Since.Time
		if minted := in.Registration.MintedAt; minted.After(from) {
			from = minted.Time // it replaced this one then
		}
		if began := in.Heartbeat.Beat.JobBegan; in.State == statemachine.Running && !began.IsZero() && began.Add(reconciler.PreparedFor).After(from) {
			from = began.Add(reconciler.PreparedFor) // the next registration is made while a job runs, and is not in the record
		}
		age := s.At.Sub(from)
		switch {
		case r.Online && in.State == statemachine.Terminated:
			if age <= o.overstay()+githubLag+o.react() {
				continue
			}
			v.Problem = fmt.Sprintf("is online, and its instance was terminated %s ago", long(age))
		case r.Online:
			continue // in the handshake, or a job of its own run still ends: foreignJob finds when it must not
		case age <= 2*o.Config.Runners+githubLag+o.react():
			continue
		case in.State == statemachine.Terminated:
			v.Problem = fmt.Sprintf("is registered, and its instance was terminated %s ago", long(age))
		default:
			v.Problem = fmt.Sprintf("is registered, and its instance has not used it for %s", long(age))
		}
		report(v)
	}
}
