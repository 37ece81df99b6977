package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Invariant 8: what was launched for a run counts as long as the run lasts, be it longer than a day. Once its budget is used
// up it stays short of a seat.
func TestBudget_LastsAsLongAsItsRun(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.MaxRuntime = 48 * time.Hour
		stop := w.controller("c1", nil)
		r := spec("100", 1)
		r.MaxRuntime = store.SecondsOf(30 * time.Hour)
		done := w.submit(r)
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		done()
		for w.Fleet.Launched() < 4 {
			for _, id := range w.Fleet.Alive() {
				w.Crash(store.InstanceID(id))
			}
			n := w.Fleet.Launched()
			w.await(10*time.Minute, "a lost seat is filled again", func() bool { return w.Fleet.Launched() > n })
		}
		for _, id := range w.Fleet.Alive() {
			w.Crash(store.InstanceID(id))
		}
		time.Sleep(25 * time.Hour)
		stop()
		w.controller("c2", nil) // which knows what the table says
		time.Sleep(time.Hour)
		if st, n := w.status("100"), w.Fleet.Launched(); st.Phase != statemachine.Ready || n != 4 {
			t.Errorf("%s with %d machines launched for one seat, want Ready with 4", st.Phase, n)
		}
		w.release("100", 1, store.Drain)
		w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
	})
}
