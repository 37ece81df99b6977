package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H31: a run's end deletes its runners at GitHub. A listener that was just starting with such a
// registration fails, and its agent says so, before the record says idle. Nobody healthy dies of it,
// not even when the controller changes in between.
func TestRelease_RegistrationFailsBecauseItsRunnerWasDeleted(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		job := w.jobs("100", 1, 120)
		w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
		w.release("100", 1, store.Drain)
		time.Sleep(5 * time.Second) // of the wait for the job
		in := w.Instances()[st.Instances[0].InstanceID]
		failed := store.SignalValue{
			Signal: store.RegFailed, RunID: "100", Assignment: in.Assignment, Serial: in.Registration.Serial,
			Cause: store.CauseRefused, Detail: "the registration has been deleted",
		}
		if err := w.Store.Signal(t.Context(), in.Principal, failed, w.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		stop()
		defer w.controller("c2", nil)()
		w.await(3*time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		if n := w.Fleet.Launched(); n != 1 {
			t.Errorf("launched %d, want 1", n)
		}
	})
}

// H37 S86: a run ends while the next registration of its machine is being made at GitHub: its runner goes
// too, and is not left behind with the run's label.
func TestRelease_WhileARegistrationIsBeingMade_H37(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Runners = 24 * time.Hour // the sweep of lost runners is not to help
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.Hub.SetLatency(githubsim.Latency{API: 2 * time.Second})
		w.awaitJobs(w.jobs("100", 1, 1), time.Minute)
		w.await(10*time.Second, "the next one is begun", func() bool { return w.Hub.Calls()[githubsim.CallJIT] == 2 })
		w.release("100", 1, store.Drain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		time.Sleep(5 * time.Second)
		if left, err := w.Hub.Runners(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("runners left at GitHub = %+v, %v, want none", left, err)
		}
	})
}
