package reconciler_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// slowPlan is a fleet that takes 20 s over every plan.
type slowPlan struct {
	fleet.Fleet
	plans atomic.Int64 // begun
}

func (f *slowPlan) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	f.plans.Add(1)
	time.Sleep(20 * time.Second)
	return f.Fleet.Plan(ctx, s)
}

// stalling is a table that answers no read of one item while gate is full.
type stalling struct {
	store.Table
	key  store.Key
	gate chan struct{} // holds one
}

func (s stalling) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if slices.Contains(keys, s.key) {
		s.gate <- struct{}{}
		<-s.gate
	}
	return s.Table.Get(ctx, c, keys...)
}

// S69: a machine is pooled while a launch for a request is being planned, and the request does not come to look at the pool,
// since the store is slow to answer what its record says: nothing is launched for what the pool has by now.
func TestPooled_WhileALaunchIsPlanned_NothingIsLaunched_S69(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := stalling{w.Table, store.RequestKey("200", store.KindRunRequest), make(chan struct{}, 1)}
		slow := &slowPlan{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Table: table, Fleet: slow})()
		w.submit(spec("100", 1))
		id := w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute).Instances[0].InstanceID
		w.submit(spec("200", 1))
		w.await(time.Second, "a second plan begins", func() bool { return slow.plans.Load() == 2 })

		table.gate <- struct{}{}
		if err := w.Store.Ring(t.Context(), "200"); err != nil {
			t.Fatal(err)
		}
		w.release("100", 1, store.Drain)
		w.await(15*time.Second, "pooled", func() bool { return w.pooled() == 1 })
		time.Sleep(time.Minute)
		if n := w.Fleet.Launched(); n != 1 {
			t.Errorf("launched %d, want no other while the first is pooled", n)
		}
		<-table.gate
		if st := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second); st.Instances[0].InstanceID != id {
			t.Errorf("200 is served by %s, want %s of the pool", st.Instances[0].InstanceID, id)
		}
	})
}
