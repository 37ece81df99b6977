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

// spoil takes the agent of a machine and breaks its record in a way that a machine's role can.
func (w *world) spoil(id store.InstanceID, how func(*storetest.Memory, store.Key)) {
	w.t.Helper()
	in := w.instance(id)
	w.Harm(id)
	w.Waive(sim.InTime) // nobody reads its threshold
	w.forge(id, func(in store.Instance) (store.Beat, store.SignalValue) {
		return store.Beat{Assignment: in.Assignment, Runner: "none"}, store.SignalValue{Signal: store.RemoveOK, Assignment: in.Assignment}
	})
	role := store.New(w.Under) // it goes on beating, so that only the record is wrong
	w.Go(func(ended <-chan struct{}) {
		for {
			_ = role.Beat(w.t.Context(), in.Principal, store.Beat{Assignment: in.Assignment, Runner: "none"}, w.Clock.Now())
			select {
			case <-ended:
				return
			case <-w.Clock.After(5 * time.Second):
			}
		}
	})
	how(w.Under.(*storetest.Memory), store.InstanceKey(in.Principal, store.KindInstance))
}

var spoils = map[string]func(*storetest.Memory, store.Key){
	"Broken":  (*storetest.Memory).Break, // SET expiresAt = "never"
	"Expired": (*storetest.Memory).Erase, // SET expiresAt = 1
}

// H51: a pooled machine whose record its role broke, or let expire, stops nobody: the others of its class are claimed
// with a registration each, and it is ended.
func TestSpoiledRecord_OfAPooledMachine_StopsNobody_H51(t *testing.T) {
	for name, how := range spoils {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.warm("100", 3, nil)
				var oldest store.Instance
				for _, in := range w.Instances() {
					if in.State == statemachine.Idle && (oldest.ID == "" || in.Threshold.Before(oldest.Threshold.Time) || in.Threshold.Equal(oldest.Threshold) && in.ID < oldest.ID) {
						oldest = in
					}
				}
				w.spoil(oldest.ID, how)
				before := registrations(w)
				w.submit(spec("200", 1))
				st := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
				if st.Instances[0].InstanceID == oldest.ID || !st.Instances[0].Warm {
					t.Errorf("served by %+v, want another warm machine", st.Instances[0])
				}
				if n := registrations(w) - before; n > 3 {
					t.Errorf("%d registrations for one seat", n)
				}
				w.await(w.Config.Scan+w.Config.Orphan+time.Minute, "the machine is ended", func() bool {
					return !slices.Contains(w.Fleet.Alive(), string(oldest.ID))
				})
				w.release("200", 1, store.Drain)
			})
		})
	}
}

// H51: nor does it make a machine immortal that runs a job: it is ended, and its seat filled again.
func TestSpoiledRecord_OfARunningMachine_EndsIt_H51(t *testing.T) {
	for name, how := range spoils {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				r := spec("100", 1)
				r.MaxRuntime = store.SecondsOf(10 * time.Minute)
				w.submit(r)
				st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				id := st.Instances[0].InstanceID
				w.spoil(id, how)
				w.await(10*time.Minute+w.Config.Orphan+time.Minute, "the machine is ended", func() bool {
					return !slices.Contains(w.Fleet.Alive(), string(id))
				})
				w.release("100", 1, store.Drain)
			})
		})
	}
}
