package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// H52: an operator's clock that is ahead or behind neither dismisses what is launched after a drain order nor spares
// what was there before it.
func TestDrain_OperatorsClockDoesNotMatter_H52(t *testing.T) {
	for name, skew := range map[string]time.Duration{"Ahead": 10 * time.Minute, "Behind": -10 * time.Minute, "AgesAhead": 1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.submit(spec("100", 2))
				w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				w.release("100", 1, store.Drain)
				w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
				if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: "all", CreatedAt: store.At(w.Clock.Now().Add(skew))}); err != nil {
					t.Fatal(err)
				}
				w.await(time.Minute, "both dismissed", func() bool { return w.in(statemachine.Terminated) == 2 })
				w.submit(spec("200", 2))
				w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
				time.Sleep(15 * time.Minute)
				if n := w.Fleet.Launched(); n != 4 {
					t.Errorf("%d machines launched, want the two that were drained and two for the next run", n)
				}
				w.release("200", 1, store.Drain)
				w.await(time.Minute, "two pooled again", func() bool { return w.pooled() == 2 })
			})
		})
	}
}

// H52: a lease that was deleted, as an operator does with one that cannot be read, begins no terms anew: an order that is
// in force spares what is launched from then on, and the next one dismisses all that is there.
func TestDrain_AfterTheLeaseWasDeleted_H52(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for range 3 {
			w.controller("c0", nil)() // terms that end
		}
		order := func(id string) {
			if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: id, CreatedAt: store.At(w.Clock.Now())}); err != nil {
				t.Fatal(err)
			}
		}
		stop := w.controller("c1", nil)
		order("first")
		time.Sleep(w.Config.Scan)
		stop()
		w.Waive(sim.Fenced) // terms begin anew
		w.Under.(*storetest.Memory).Erase(store.LeaseKey)
		w.controller("c2", nil)
		w.warm("100", 2, nil)
		time.Sleep(time.Minute)
		if n := w.pooled(); n != 2 {
			t.Errorf("%d pooled, want the two that were launched after the order", n)
		}
		order("second")
		w.await(time.Minute, "both dismissed", func() bool { return w.in(statemachine.Terminated) == 2 })
	})
}
