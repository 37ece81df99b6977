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

// idle counts the idle machines, and returns the age of the oldest.
func (w *world) idle() (n int, oldest time.Duration) {
	for _, in := range w.Instances() {
		if in.State == statemachine.Idle {
			n, oldest = n+1, max(oldest, w.Clock.Since(in.CreatedAt.Time))
		}
	}
	return n, oldest
}

// A floor whose machines retire sooner than idle ones of the class end has its successors besides, and no more: those that are
// replaced end at their greatest age, and the oldest beyond the most that may be idle at once.
func TestFloors_RetiredEnd_Review_C3(t *testing.T) {
	for name, most := range map[string]int{"Max": 2, "NoMax": 0} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				takesLong(t)
				w.keep("small", 2, func(f *reconciler.Floor) { f.MaxAge, f.Max = 30*time.Minute, most })
				w.class("small", func(c *reconciler.Class) { c.Idle = 4 * time.Hour })
				w.IdlePoll = 10 * time.Second
				w.controller("c1", nil)
				w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
				for range 2 * 80 {
					time.Sleep(30 * time.Second)
					n, oldest := w.idle()
					if n > 4 || oldest > 31*time.Minute || w.pooled() < 2 {
						t.Fatalf("%d are idle, %d pooled, the oldest for %s; want 2, or 4 while they are replaced, none older than 30m", n, w.pooled(), oldest)
					}
				}
			})
		})
	}
}

// A machine that came back from a run ends at the greatest age of its class's floor, although the class may keep machines idle for
// longer after a run.
func TestFloors_RetiredAfterARun_Review_C3(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2, func(f *reconciler.Floor) { f.MaxAge = 40 * time.Minute })
		w.class("small", func(c *reconciler.Class) { c.Idle = 4 * time.Hour })
		w.controller("c1", nil)
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		served := ids(w.serve(spec("100", 2), time.Minute))
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(5*time.Minute, "back", func() bool { return w.pooled() >= 2 })
		time.Sleep(45 * time.Minute)
		for id := range served {
			if in := w.instance(id); in.State == statemachine.Idle && in.Threshold.After(in.CreatedAt.Add(41*time.Minute)) {
				t.Errorf("%s, which was replaced, is kept for %s more", id, in.Threshold.Sub(w.Clock.Now()))
			}
		}
		if n, _ := w.idle(); n > 4 {
			t.Errorf("%d are idle, want those that are wanted, and those that came back besides", n)
		}
	})
}

// A floor's instance that is no longer wanted terminates within a step, even if idle machines of its class live for hours.
func TestFloors_NoLongerWanted_Review_C3(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2)
		w.class("small", func(c *reconciler.Class) { c.Idle = 4 * time.Hour })
		w.IdlePoll = 10 * time.Second
		op, _ := w.operator("c1", reconciler.Options{})
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		w.keep("small", 0)
		w.renewed(op, func(*reconciler.Config) {})
		w.await(6*time.Minute, "gone", func() bool { n, _ := w.idle(); return n == 0 })
	})
}

// A floor can wait behind a request, or for room that a request of another class needs. It is filled as soon as the request stops waiting,
// for any reason.
func TestFloors_TheRequestBeforeItGoes_Review_C4(t *testing.T) {
	takesLong(t)
	for name, end := range map[string]func(w *world, gone func()){
		"TimesOut": func(w *world, _ func()) { w.awaitPhase("100", 1, statemachine.Failed, 6*time.Minute) },
		"Vanishes": func(w *world, gone func()) { gone(); w.awaitPhase("100", 1, statemachine.Failed, 2*time.Minute) },
		"Released": func(w *world, _ func()) { w.give("100", 1, store.ReleaseDrain, time.Minute) },
		"Replaced": func(w *world, _ func()) { // by an attempt that fails at once
			w.submit(spec("100", 1, asAttempt(2), ofClass("unknown")))
			w.awaitPhase("100", 2, statemachine.Failed, time.Minute)
		},
	} {
		for _, class := range []string{"small", "large"} { // of the request, and another
			t.Run(name+"/"+class, func(t *testing.T) {
				run(t, func(t *testing.T, w *world) {
					w.Configure(func(c *reconciler.Config) { c.Scan, c.MaxInstances, c.WarmPoll = time.Hour, 1, 10*time.Minute })
					w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.OnDemand}, 0)
					w.keep(class, 1, func(f *reconciler.Floor) { f.UsageClasses = []string{store.Spot} })
					w.controller("c1", nil)
					gone := w.submit(spec("100", 1, within(5*time.Minute), ofUsage(store.OnDemand)))
					w.awaitPhase("100", 1, statemachine.Pending, time.Minute)
					end(w, gone)
					w.await(time.Minute, "filled", func() bool { return w.pooled() == 1 })
				})
			})
		}
	}
}

// oblivious is a table that loses the record of one instance with its next write.
type oblivious struct {
	store.Table
	match func(store.Instance) bool
	lost  atomic.Pointer[store.Key]
}

func (f *oblivious) Put(ctx context.Context, item store.Item, expect int64) error {
	if in, is := instanceIn(item); is && f.match(in) {
		f.lost.CompareAndSwap(nil, &item.Key)
	}
	if lost := f.lost.Load(); lost != nil && *lost == item.Key {
		return &store.ConflictError{Key: item.Key, Expect: expect}
	}
	return f.Table.Put(ctx, item, expect)
}

func (f *oblivious) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := f.Table.Get(ctx, c, keys...)
	lost := f.lost.Load()
	return slices.DeleteFunc(items, func(item store.Item) bool { return lost != nil && *lost == item.Key }), err
}

// A floor's machine whose record is gone before it is given to the pool keeps no other of its class from being renewed.
func TestFloors_OneRecordIsGone_Review_S8(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Orphan = time.Hour })
		w.keep("small", 2)
		w.IdlePoll = 10 * time.Second
		table := &oblivious{Table: w.Table, match: func(store.Instance) bool { return false }}
		op, _ := w.operator("c1", reconciler.Options{Table: table})
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		w.keep("small", 3)
		kept := w.Instances()
		table.match = func(in store.Instance) bool { return in.State == statemachine.Idle && kept[in.ID].ID == "" }
		w.renewed(op, func(*reconciler.Config) {})
		w.await(2*time.Minute, "the record of the third is gone", func() bool { return table.lost.Load() != nil })
		time.Sleep(9 * time.Minute)
		for id := range kept {
			if in := w.instance(id); in.State != statemachine.Idle {
				t.Errorf("%s is %s: %s; want it kept", id, in.State, in.Reason)
			}
		}
	})
}
