package reconciler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// H51 invariant 3 invariant 4: a machine whose record is taken away, and whose agent no longer ends it, is ended by
// the controller that knew it; its seat is filled again.
func TestErasedRecord_TheMachineIsEnded_H51(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		victim := w.Instances()[st.Instances[0].InstanceID]
		w.Hang(victim.ID)
		w.Waive(sim.Needed) // which counts what was last written of it
		w.Under.(*storetest.Memory).Erase(store.InstanceKey(victim.Principal, store.KindInstance))
		limits := w.Config.Limits
		w.await(limits.RunningSilence+w.Config.Orphan+2*w.Config.Sweep, "the machine ended", func() bool {
			return !slices.Contains(w.Fleet.Alive(), string(victim.ID))
		})
		w.await(limits.Visibility+2*w.Config.Sweep, "its seat is filled again", func() bool {
			return w.in(statemachine.Running) == 2+1 // what was last written of the erased one counts too
		})
		w.release("100", 1, store.Drain)
	})
}
