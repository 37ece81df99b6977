package reconciler_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H52: machines whose clocks are a minute off live like all others: they are handed over, reused and
// pooled, none is lost, and no alarm is raised.
func TestClocks_AMinuteOff_H52(t *testing.T) {
	takesLong(t)
	for name, skew := range map[string]time.Duration{"Ahead": time.Minute, "Behind": -time.Minute} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.Skew = skew
			w.controller("c1", nil)
			w.serve(spec("100", 6), time.Minute)
			w.awaitJobs(w.jobs("100", 6, 30), 2*time.Minute)
			w.release("100", 1, store.ReleaseDrain)
			w.await(time.Minute, "pooled", func() bool { return w.pooled() == 6 })
			time.Sleep(2 * time.Minute)
			w.submit(spec("200", 6))
			if took := w.await(20*time.Second, "ready", func() bool { return w.status("200").Phase == statemachine.Ready }); took > 10*time.Second {
				t.Errorf("warm start took %s", took)
			}
			time.Sleep(2 * time.Minute)
			if n := w.in(statemachine.Running); n != 6 {
				t.Errorf("%d run, want 6", n)
			}
			w.release("200", 1, store.ReleaseDrain)
			w.await(time.Minute, "pooled", func() bool { return w.pooled() == 6 })
			w.launched(6)
			if alarms := w.alarms.raised(); len(alarms) > 0 {
				t.Errorf("alarms: %v", alarms)
			}
		}))
	}
}

// S21 S31 S32: a run that is never released loses its machines after its max runtime, in the middle of their jobs, by
// the controller alone before the agents' grace begins to count, and by the agents alone at its end.
func TestMaxRuntime_JobsEndWithTheirMachines_S21_S31_S32(t *testing.T) {
	for name, tc := range map[string]struct {
		powerless, orphaned bool
		atLeast, atMost     time.Duration // past max runtime
	}{
		"Both":           {atMost: 10 * time.Second},
		"ControllerOnly": {powerless: true, atMost: 10 * time.Second},
		"AgentsOnly":     {orphaned: true, atLeast: time.Minute, atMost: 61 * time.Second},
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.Powerless = tc.powerless
			stop := w.controller("c1", nil)
			end := w.serve(spec("100", 2, lasting(10*time.Minute)), time.Minute).ReadyAt.Add(10 * time.Minute)
			jobs := w.jobs("100", 2, 7200)
			w.Cut(jobs...)
			w.await(time.Minute, "both are busy", func() bool { return w.jobsIn(githubsim.Running) == 2 })
			if tc.orphaned {
				stop()
			}
			time.Sleep(end.Sub(w.Clock.Now()) + tc.atLeast - time.Second)
			if n := len(w.Fleet.Alive()); n != 2 || w.jobsIn(githubsim.Running) != 2 {
				t.Fatalf("%d machines live, %d jobs run before their time is up, want 2 each", n, w.jobsIn(githubsim.Running))
			}
			w.await(tc.atMost-tc.atLeast+time.Second, "gone", func() bool { return len(w.Fleet.Alive()) == 0 })
			time.Sleep(time.Minute)
			for _, id := range jobs {
				if j, err := w.Hub.Job(id); err != nil || j.State == githubsim.Running || j.Conclusion == githubsim.Success {
					t.Errorf("job %s: %s %s, %v; want it ended with its machine", id, j.State, j.Conclusion, err)
				}
			}
			if tc.orphaned {
				return
			}
			if st := w.awaitPhase("100", 1, statemachine.PhaseReleased, time.Minute); st.Reason != reconciler.ReasonMaxRuntime {
				t.Errorf("reason %q, want %q", st.Reason, reconciler.ReasonMaxRuntime)
			}
			w.launched(2)
		}))
	}
}

// generous launches one machine more than it was asked for.
type generous struct{ fleet.Fleet }

func (f generous) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	p.Count++
	return f.Fleet.Launch(ctx, p)
}

// S31 H31: a machine too many that was given a job before it could go back keeps it, and runs for the rest of its run's
// time, not for another max runtime.
func TestSurplusWithAJob_EndsWithItsRun_S31(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		slow := held{w.Table, func(_ context.Context, item store.Item) error {
			var st store.RunStatus
			if item.Key.Sort == store.KindRunStatus && json.Unmarshal(item.Attributes, &st) == nil && st.Phase == statemachine.Ready {
				time.Sleep(3 * time.Second)
			}
			return nil
		}}
		defer w.controllerWith("c1", reconciler.Options{Fleet: generous{w.Fleet}, Table: slow})()
		w.Waive(sim.Needed) // two machines for one seat
		jobs := w.jobs("100", 2, 7200)
		w.Cut(jobs...)
		end := w.serve(spec("100", 1), time.Minute).ReadyAt.Add(30 * time.Minute)
		w.await(10*time.Second, "both handed over", func() bool { return w.in(statemachine.Running) == 2 })
		for id, in := range w.Instances() {
			if in.Threshold.After(end) {
				t.Errorf("%s is %s up to %s past its run's time", id, in.State, in.Threshold.Sub(end))
			}
		}
		time.Sleep(end.Sub(w.Clock.Now()) - 10*time.Second)
		for _, id := range jobs {
			if j, err := w.Hub.Job(id); err != nil || j.State != githubsim.Running {
				t.Errorf("job %s is %s, %v, want it running to the end of its run", id, j.State, err)
			}
		}
		w.await(20*time.Second, "all are gone", func() bool { return len(w.Fleet.Alive()) == 0 })
	})
}

// jobsIn counts the jobs in a state.
func (w *world) jobsIn(state githubsim.JobState) int {
	n := 0
	for _, j := range w.Hub.Jobs() {
		if j.State == state {
			n++
		}
	}
	return n
}

// S65: handed over if and only if both gates pass: a fresh heartbeat and the registration. The answer
// carries id and details.
func TestGates_Both_S65(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 1)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}})
		w.submit(spec("200", 1)) // its machine beats, but its listener does not come online
		time.Sleep(5 * time.Second)
		if st := w.status("200"); st.Phase != statemachine.Pending || w.in(statemachine.Running) != 0 {
			t.Fatalf("%s with %d running before the listener was online", st.Phase, w.in(statemachine.Running))
		}
		w.Hub.SetOutage(githubsim.Outage{})
		st := w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
		if s := st.Instances[0]; s.InstanceID == "" || s.InstanceType == "" || s.UsageClass == "" {
			t.Errorf("handed over %+v, want id and details", s)
		}
		w.Waive(statemachine.ReasonGate) // the one that hung was given up
	})
}

// H26: an instance that was given up and registers late for its old run takes no job: its runner is
// deleted at GitHub before the machine is, and none is killed with a job on it.
func TestGivenUp_RegistersLate_H26(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 1)
		w.Hub.SetLatency(githubsim.Latency{Session: 12 * time.Second}) // later than the gate of 10 s
		w.Waive(statemachine.ReasonGate)
		w.submit(spec("200", 1))
		w.jobs("200", 1, 30)
		time.Sleep(15 * time.Second)
		w.Hub.SetLatency(githubsim.Latency{})
		w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
		time.Sleep(time.Minute)
	})
}

// S48: a machine with notice that it will be taken away takes no new run and goes, if nobody owns it.
func TestInterrupted_TakesNoNewRun_S48(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		id := w.warm("100", 1).Instances[0].InstanceID
		w.Interrupt(id)
		w.await(time.Minute, "dismissed", func() bool { return w.instance(id).State == statemachine.Terminated })
		if st := w.serve(spec("200", 1), time.Minute); ids(st)[id] {
			t.Errorf("run 200 was given %s, which is being taken away", id)
		}
		if n := w.Owners(id); n != 1 {
			t.Errorf("%d runs owned %s, want 1", n, id)
		}
	})
}

// Invariant 3 H03: an order to dismiss that GitHub being down keeps from being carried out stops no expiry.
func TestExpiry_DespiteADrainOrderAndAnOutage(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 1, lasting(3*time.Minute)), time.Minute)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		w.drain(store.DrainOrder{ID: "all"})
		w.Hang(st.Instances[0].InstanceID)
		w.await(4*time.Minute, "gone by its threshold", func() bool { return len(w.Fleet.Alive()) == 0 })
	})
}

type failingScript struct{ status string }

func (s failingScript) Run(context.Context) error {
	return errors.New("exit status " + s.status + ": apt-get: no such package frobnicate")
}

// S39 H33: a script that always fails ends in Failed with its last lines, not in a bill.
func TestScriptAlwaysFails(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Script = failingScript{"100"}
		w.Waive(statemachine.ReasonScript)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Failed, 9*time.Minute)
		if st.Reason != reconciler.ReasonLaunchBudget || !strings.Contains(st.Message, "frobnicate") {
			t.Errorf("failed for %q: %q, want %s with the script's last lines", st.Reason, st.Message, reconciler.ReasonLaunchBudget)
		}
		if n := w.Fleet.Launched(); n > 2+3 {
			t.Errorf("launched %d machines for 2 seats, want at most 5", n)
		}
		w.checkDrained(10 * time.Minute)
	})
}

// An order that does not wait for jobs ends what runs one at once, and its run is given another machine; the same without
// that word waits.
func TestDrain_Now(t *testing.T) {
	for _, now := range []bool{false, true} {
		led(t, func(t *testing.T, w *world) {
			w.Waive(statemachine.ReasonDismissedAtOnce)
			st := w.serve(spec("100", 1, lasting(20*time.Minute)), time.Minute)
			w.jobs("100", 1, (10 * time.Minute).Seconds())
			id := st.Instances[0].InstanceID
			w.await(time.Minute, "busy", func() bool { return w.jobsIn(githubsim.Running) == 1 })
			w.drain(store.DrainOrder{ID: "all", Now: now})
			time.Sleep(10 * time.Second)
			in := w.instance(id)
			if ended := in.State == statemachine.Terminated; ended != now || ended && in.Reason != statemachine.ReasonDismissedAtOnce {
				t.Errorf("now %v: %s is %s (%s) after 10 s", now, id, in.State, in.Reason)
			}
			if now {
				w.await(time.Minute, "another machine", func() bool { return w.in(statemachine.Running) == 1 })
			}
			w.release("100", 1, store.ReleaseNow)
		})
	}
}
