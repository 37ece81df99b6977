package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// GitHub removes a just-in-time runner that idles (actions/runner#4726): while the run owns the machine the
// next registration is made, under another name, so that a job that comes late is served, and the
// machine neither ends nor changes hands (H37, H71).
func TestRegistration_IdleLapse_IsReplaced_H71(t *testing.T) {
	runScript(t, sim.Script{JITLapse: 3 * time.Minute}, inMemory, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		time.Sleep(15 * time.Minute)
		jobs := w.awaitJobs(w.jobs("100", 2, 30), 2*time.Minute)
		for _, j := range jobs {
			if j.StartedAt.Sub(j.QueuedAt) > 30*time.Second {
				t.Errorf("job %s waited %s for a runner", j.ID, j.StartedAt.Sub(j.QueuedAt))
			}
			if !ids(st)[store.InstanceID(j.InstanceID)] {
				t.Errorf("job %s ran on %s, which is not of the run", j.ID, j.InstanceID)
			}
		}
		names := map[string]int{}
		for _, r := range w.Hub.Registrations() {
			names[r.Name]++
		}
		if n := len(names); n < 8 || n > 16 {
			t.Errorf("%d registrations in 15 min, want about one per machine and 3 min", n)
		}
		for name, n := range names {
			if n > 1 {
				t.Errorf("name %s was used %d times", name, n)
			}
		}
		if n := w.Fleet.Launched(); n != 2 {
			t.Errorf("launched %d, want 2", n)
		}
		w.release("100", 1, store.Drain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		w.checkNoneEnded()
	})
}
