package reconciler_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S12: a machine whose record says terminated is ended well within a sweep, though its agent does not help; the record
// has neither run nor threshold, and no run gets it.
func TestTerminated_MachineEndsWithinASweep_S12(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Powerless = true
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: "one", InstanceID: id, CreatedAt: store.At(w.Clock.Now())}); err != nil {
			t.Fatal(err)
		}
		w.await(time.Minute, "marked", func() bool { return w.instance(id).State == statemachine.Terminated })
		marked := w.instance(id).Since.Time
		w.await(w.Config.Sweep, "ended", func() bool { return len(w.Fleet.Alive()) == 0 })
		if took := w.Clock.Since(marked); took > w.Config.Sweep/2 {
			t.Errorf("the machine lived on for %s, want its end asked for at once", took)
		}
		if in := w.instance(id); in.RunID != "" || !in.Threshold.IsZero() {
			t.Errorf("terminated with run %q and a threshold %s", in.RunID, in.Threshold.Time)
		}
		w.submit(spec("200", 1))
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); ids(st)[id] {
			t.Errorf("run 200 was given %s", id)
		}
	})
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
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Powerless = tc.powerless
				stop := w.controller("c1", nil)
				r := spec("100", 2)
				r.MaxRuntime = store.SecondsOf(10 * time.Minute)
				w.submit(r)
				end := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).ReadyAt.Add(10 * time.Minute)
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
				if st := w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute); st.Reason != reconciler.ReasonMaxRuntime {
					t.Errorf("reason %q, want %q", st.Reason, reconciler.ReasonMaxRuntime)
				}
				if n := w.Fleet.Launched(); n != 2 {
					t.Errorf("launched %d, want 2: nothing is refilled after max runtime", n)
				}
			})
		})
	}
}

// S31: a seat that is refilled late runs for the rest of its run's time, not for another max runtime.
func TestRefilledSeat_EndsWithItsRun_S31(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		end := st.ReadyAt.Add(30 * time.Minute)
		time.Sleep(20 * time.Minute)
		lost := st.Instances[0].InstanceID
		w.Crash(lost)
		w.await(3*time.Minute, "refilled", func() bool { now := ids(w.status("100")); return len(now) == 2 && !now[lost] })
		for id := range ids(w.status("100")) {
			if in := w.instance(id); in.State != statemachine.Running || in.Threshold.After(end) {
				t.Errorf("%s is %s up to %s past its run's time", id, in.State, in.Threshold.Sub(end))
			}
		}
		time.Sleep(end.Sub(w.Clock.Now()))
		w.await(10*time.Second, "all are gone", func() bool { return len(w.Fleet.Alive()) == 0 })
		w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
	})
}

// generous launches one machine more than it was asked for.
type generous struct{ fleet.Fleet }

func (f generous) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	p.Count++
	return f.Fleet.Launch(ctx, p)
}

// slowAnswer is a table that takes its time to write that a request is Ready.
type slowAnswer struct {
	store.Table
	lasts time.Duration
}

func (s slowAnswer) Put(ctx context.Context, item store.Item, expect int64) error {
	var st store.RunStatus
	if item.Key.Sort == store.KindRunStatus && json.Unmarshal(item.Attributes, &st) == nil && st.Phase == statemachine.Ready {
		time.Sleep(s.lasts)
	}
	return s.Table.Put(ctx, item, expect)
}

// S31 H31: a machine too many that was given a job before it could go back keeps it, and runs for the rest of its run's
// time, not for another max runtime.
func TestSurplusWithAJob_EndsWithItsRun_S31(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controllerWith("c1", reconciler.Options{Fleet: generous{w.Fleet}, Table: slowAnswer{w.Table, 3 * time.Second}})()
		w.Waive(sim.Needed) // two machines for one seat
		jobs := w.jobs("100", 2, 7200)
		w.Cut(jobs...)
		w.submit(spec("100", 1))
		end := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).ReadyAt.Add(30 * time.Minute)
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
