package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Invariant 6: while GitHub refuses listeners, a machine whose role says that its own is online and at work proves nothing
// against the others: GitHub itself knows of no such runner.
func TestForgedSignal_OfBeingOnline_EndsNoOther(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.warm("100", 3, nil)
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		w.submit(patient("200", 2))
		time.Sleep(20 * time.Second)
		w.submit(patient("300", 2)) // which is not handed over, for want of the other
		w.await(time.Minute, "the third is claimed", func() bool { return w.in(statemachine.Claimed) == 3 })
		var liar store.InstanceID
		for id, in := range w.Instances() {
			if in.RunID == "300" && in.State == statemachine.Claimed {
				liar = id
			}
		}
		stop := w.forge(liar, func(in store.Instance) (store.Beat, store.SignalValue) {
			return store.Beat{Assignment: in.Assignment, Runner: "busy", Busy: true},
				store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
		})
		time.Sleep(3 * time.Minute)
		for id, in := range w.Instances() {
			if id != liar && in.State == statemachine.Terminated {
				t.Errorf("%s ended: %s", id, in.Reason)
			}
		}
		if _, err := w.Store.Release(t.Context(), "300", 1, store.Drain); err != nil {
			t.Fatal(err)
		}
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.NoTrouble, 0)
		w.awaitPhase("200", 1, statemachine.Ready, 35*time.Second)
		stop()
	})
}
