package reconciler_test

import (
	"slices"
	"testing"
	"time"

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
		victim := w.instances()[st.Instances[0].InstanceID]
		w.mu.Lock()
		w.erased[victim.ID] = true
		w.mu.Unlock()
		w.hang(victim.ID)
		w.audit.Table.(*storetest.Memory).Erase(store.InstanceKey(victim.Principal, store.KindInstance))
		limits := w.cfg.Limits
		w.await(limits.RunningSilence+w.cfg.Orphan+2*w.cfg.Sweep, "the machine ended", func() bool {
			return !slices.Contains(w.fleet.Alive(), string(victim.ID))
		})
		w.await(limits.Visibility+2*w.cfg.Sweep, "its seat is filled again", func() bool {
			return w.in(statemachine.Running) == 2+1 // what was last written of the erased one counts too
		})
		w.release("100", 1, store.Drain)
	})
}
