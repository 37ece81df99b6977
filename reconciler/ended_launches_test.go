package reconciler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// linesOf counts the alarms that contain text.
func (w *world) linesOf(text string) (n int) {
	for _, line := range w.alarms.raised() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// EC2 answers a launch with ids and ends every instance at once, for a reason that the next launch meets as well. The request fails
// with EC2's words instead of launch after launch, the record and the history have them, and one ERROR is logged.
func TestLaunch_InstancesEndAtTheirStart_Review_11(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   fleet.StateReason
		launches int
	}{
		"Key":    {fleet.StateReason{Code: "Client.InvalidKMSKey.InvalidState", Message: "Client.InvalidKMSKey.InvalidState: The KMS key is disabled", Refused: true, Remedy: "enable the key"}, 1},
		"Volume": {fleet.StateReason{Code: "Client.VolumeLimitExceeded", Message: "Client.VolumeLimitExceeded: Volume limit exceeded", Refused: true, Remedy: "request more"}, 1},
		"Server": {fleet.StateReason{Code: "Server.InternalError", Message: "Server.InternalError: Internal error on launch", Refused: true, Remedy: "read AWS Health"}, 2},
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.Waive(statemachine.ReasonGone)
			w.Fleet.FailStarts(tc.reason)
			w.controller("c1", nil)
			w.submit(spec("100", 2))
			st := w.awaitPhase("100", 1, statemachine.Failed, time.Minute)
			if st.Reason != reconciler.ReasonRefused || !strings.Contains(st.Message, tc.reason.Message) || !strings.Contains(st.Message, tc.reason.Remedy) {
				t.Errorf("failed with %q: %q, want %q with EC2's words and the remedy", st.Reason, st.Message, reconciler.ReasonRefused)
			}
			if n := w.Fleet.Launched(); n != 2*tc.launches {
				t.Errorf("%d machines were launched, want %d launches of two", n, tc.launches)
			}
			for n := range w.Fleet.Launched() {
				id := store.InstanceID(fmt.Sprintf("i-%017x", n+1))
				w.await(time.Minute, "its end is recorded", func() bool { return w.instance(id).State == statemachine.Terminated })
				in := w.instance(id)
				history := in.History.Entries(in.CreatedAt)
				last := history[len(history)-1]
				if in.Reason != statemachine.ReasonGone || in.StateReason != tc.reason.Message || in.Detail != tc.reason.Message || last.Detail != "lost: "+tc.reason.Code {
					t.Errorf("%s ended for %q, %q, %q, its history says %q; want EC2's words", id, in.Reason, in.StateReason, in.Detail, last.Detail)
				}
			}
			if n := w.linesOf("launch failed: its instances ended at their start"); n != 1 {
				t.Errorf("%d alarms %q, want one", n, w.alarms.raised())
			}
			w.Fleet.FailStarts(fleet.StateReason{})
			w.serve(spec("200", 1), time.Minute) // the operator has repaired it
		}))
	}
}

// A reason that may not concern the next launch fails no request: another is launched, and the reason is in its record.
func TestLaunch_InstanceEndsForAPassingReason_Review_B2(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.Waive(statemachine.ReasonGone)
		reason := fleet.StateReason{Code: "Server.SpotInstanceTermination", Message: "Server.SpotInstanceTermination: Instance terminated due to a price or capacity constraint"}
		st := w.serve(spec("100", 1), time.Minute)
		lost := st.Instances[0].InstanceID
		w.Fleet.EndFor(string(lost), reason)
		w.await(time.Minute, "it is lost", func() bool { return w.instance(lost).State == statemachine.Terminated })
		if in := w.instance(lost); in.Reason == statemachine.ReasonGone && in.StateReason != reason.Message {
			t.Errorf("state reason = %q, want %q", in.StateReason, reason.Message)
		}
		w.await(time.Minute, "its seat is filled", func() bool { return w.Fleet.Launched() == 2 })
	})
}

// denied is a fleet whose launches EC2 refuses, for causes in turn.
type denied struct {
	fleet.Fleet
	causes []error
	calls  int
}

func (f *denied) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	f.calls++
	if f.calls <= len(f.causes) && f.causes[f.calls-1] != nil {
		return fleet.Outcome{}, f.causes[f.calls-1]
	}
	return f.Fleet.Launch(ctx, p)
}

// coded is a refusal with its cause.
type coded struct{ cause, text string }

func (e *coded) Error() string { return e.text }
func (e *coded) Unwrap() error { return fleet.ErrRefused }
func (e *coded) Cause() string { return e.cause }

// A launch that only an operator can cure logs one ERROR per cause, so that an alarm on errors sees it: again only when the cause
// changes, or after it went away.
func TestLaunch_RefusedLogsOneErrorPerCause_Review_F2(t *testing.T) {
	run := func(subnet string) error {
		return &coded{"UnauthorizedOperation ec2:RunInstances arn:subnet", "access denied: allow ec2:RunInstances on " + subnet}
	}
	key := &coded{"UnauthorizedOperation kms:CreateGrant", "access denied: allow kms:CreateGrant"}
	for name, tc := range map[string]struct {
		causes []error
		want   int
	}{
		"Same":    {[]error{run("a"), run("b"), run("a"), run("b")}, 1},
		"Changes": {[]error{run("a"), run("b"), key, key}, 2},
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			f := &denied{Fleet: w.Fleet, causes: tc.causes}
			w.controllerWith("c1", reconciler.Options{Fleet: f})
			w.serve(spec("100", 1), time.Minute)
			if n := w.linesOf("launch refused by the fleet"); n != tc.want || f.calls <= len(tc.causes) {
				t.Errorf("%d alarms %q after %d calls, want %d", n, w.alarms.raised(), f.calls, tc.want)
			}
			f.calls = 0 // refused again, after it was cured
			w.serve(spec("200", 2), 2*time.Minute)
			if n := w.linesOf("launch refused by the fleet"); n != 2*tc.want {
				t.Errorf("%d alarms %q after the second refusal, want %d", n, w.alarms.raised(), 2*tc.want)
			}
		}))
	}
}

// untagged lists machines without their template version.
type untagged struct{ fleet.Fleet }

func (f untagged) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	out, err := f.Fleet.Launch(ctx, p)
	for i := range out.Machines {
		out.Machines[i].TemplateVersion = ""
	}
	return out, err
}

// An instance that the fleet shows without its template's version keeps the version of its launch, and serves the next run.
func TestAdopt_KeepsTheVersionOfItsLaunch_Review_F4(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controllerWith("c1", reconciler.Options{Fleet: untagged{w.Fleet}})
		id := w.warm("100", 1).Instances[0].InstanceID
		if st := w.serve(spec("200", 1), time.Minute); !ids(st)[id] {
			t.Errorf("run 200 was given %v, want the warm %s", ids(st), id)
		}
		var plan fleet.Plan
		in := w.instance(id)
		l, err := w.Store.Launch(t.Context(), in.LaunchToken)
		if err == nil {
			err = json.Unmarshal(l.Plan, &plan)
		}
		if err != nil || in.TemplateVersion != plan.TemplateVersion {
			t.Errorf("template version = %q, want %q of its launch; %v", in.TemplateVersion, plan.TemplateVersion, err)
		}
	})
}

// Every instance that is dismissed says why, in its record and in its history.
func TestDismissed_SaysWhy_Review_F4(t *testing.T) {
	for name, tc := range map[string]struct {
		dismiss func(w *world, id store.InstanceID)
		reason  string
		why     string
	}{
		"Template":     {func(w *world, _ store.InstanceID) { w.SetTemplate("v2", "") }, statemachine.ReasonDismissed, "of another launch template version"},
		"Drain":        {func(w *world, _ store.InstanceID) { w.drain(store.DrainOrder{ID: "all"}) }, statemachine.ReasonDismissed, "drained"},
		"DrainNow":     {func(w *world, _ store.InstanceID) { w.drain(store.DrainOrder{ID: "all", Now: true}) }, statemachine.ReasonDismissedAtOnce, "drained"},
		"Interruption": {func(w *world, id store.InstanceID) { w.Interrupt(id) }, statemachine.ReasonDismissed, "interruption notice"},
	} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			id := w.warm("100", 1).Instances[0].InstanceID
			tc.dismiss(w, id)
			w.await(10*time.Minute, "dismissed", func() bool { return w.instance(id).State == statemachine.Terminated })
			in := w.instance(id)
			history := in.History.Entries(in.CreatedAt)
			last := history[len(history)-1].Detail
			if in.Reason != tc.reason || in.Detail != tc.why || !strings.HasPrefix(last, "dismissed") || !strings.HasSuffix(last, ": "+tc.why) {
				t.Errorf("ended for %q, detail %q, history %q; want %q because %q", in.Reason, in.Detail, last, tc.reason, tc.why)
			}
		}))
	}
}
