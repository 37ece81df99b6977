package reconciler_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// unwritable is a table that takes no write of some items, as while their partition is throttled.
type unwritable struct {
	store.Table
	match atomic.Pointer[func(store.Item) bool] // nil: it takes all
	tries atomic.Int64
}

func (u *unwritable) Put(ctx context.Context, item store.Item, expect int64) error {
	if match := u.match.Load(); match != nil && (*match)(item) {
		u.tries.Add(1)
		return fmt.Errorf("put: throttled: %w", store.ErrUnavailable)
	}
	return u.Table.Put(ctx, item, expect)
}

// refuse has the table take no write of the items that match.
func (u *unwritable) refuse(match func(store.Item) bool) { u.match.Store(&match) }

// refuseOnly has it take no write of one instance.
func (u *unwritable) refuseOnly(id store.InstanceID) {
	u.refuse(func(item store.Item) bool {
		in, is := instanceIn(item)
		return is && in.ID == id
	})
}

// refuseFirst has it take no write of the first instance that matches. It returns that instance's id.
func (u *unwritable) refuseFirst(match func(store.Instance) bool) *atomic.Pointer[store.InstanceID] {
	first := &atomic.Pointer[store.InstanceID]{}
	u.refuse(func(item store.Item) bool {
		in, is := instanceIn(item)
		if is && match(in) {
			first.CompareAndSwap(nil, &in.ID)
		}
		id := first.Load()
		return is && id != nil && in.ID == *id
	})
	return first
}

func (u *unwritable) takeAll() { u.match.Store(nil) }

// unwritableTable is a world's table that can refuse the writes of some items.
func (w *world) unwritableTable() *unwritable { return &unwritable{Table: w.Table} }

// An instance that cannot be written does not empty a floor. The others are renewed, and floors of other classes are filled.
func TestFloors_OneInstanceTakesNoWrite_Review_C9(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.Waive(sim.Needed) // the record that takes no write says idle past its threshold
		w.keep("small", 3)
		w.keep("large", 2)
		table := w.unwritableTable()
		w.controller("c1", table)
		w.await(2*time.Minute, "five pooled", func() bool { return w.pooled() == 5 })
		stuck := store.InstanceID("")
		for _, in := range w.Instances() {
			if in.ResourceClass == "small" && (stuck == "" || in.ID > stuck) {
				stuck = in.ID
			}
		}
		table.refuseOnly(stuck)
		for range 20 * 6 {
			time.Sleep(10 * time.Second)
			for _, in := range w.Instances() {
				if in.ID != stuck && in.State == statemachine.Terminated {
					t.Fatalf("%s of class %s was ended: %s", in.ID, in.ResourceClass, in.Reason)
				}
			}
		}
		if table.tries.Load() == 0 {
			t.Fatal("the instance was not written to")
		}
		table.takeAll()
		w.await(2*time.Minute, "the end of the other is written", func() bool { return w.instance(stuck).State == statemachine.Terminated })
	})
}

// The record of an ended instance that takes no write keeps no other instance from being ended and confirmed.
func TestReaper_OneRecordTakesNoWrite_Review_C10(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := w.unwritableTable()
		w.controller("c1", table)
		w.warm("100", 3)
		all := w.Instances()
		stuck := store.InstanceID("")
		for id := range all {
			stuck = max(stuck, id)
		}
		table.refuse(func(item store.Item) bool { // its retirement
			in, is := instanceIn(item)
			return is && in.ID == stuck && in.State == statemachine.Terminated && !item.ExpiresAt.IsZero()
		})
		w.drain(store.DrainOrder{ID: "one", InstanceID: stuck})
		w.await(5*time.Minute, "its retirement is tried", func() bool { return table.tries.Load() > 0 })
		w.drain(store.DrainOrder{ID: "all"})
		w.await(5*time.Minute, "the machines of the others are gone", func() bool { return len(w.Fleet.Alive()) == 0 })
		w.await(time.Minute, "their records are retired", func() bool {
			for id, in := range w.Instances() {
				if id != stuck && in.ExpiresAt.IsZero() {
					return false
				}
			}
			return true
		})
		table.takeAll()
		w.checkDrained(time.Minute)
	})
}

// A launch whose record cannot be written stops no other launch of its class or of another class. Its instances launch only once, after the
// record is written.
func TestLaunch_OneRecordTakesNoWrite_Review_C16(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 6 })
		table := w.unwritableTable()
		var first atomic.Pointer[store.Key]
		table.refuse(func(item store.Item) bool {
			if item.Key.Sort != store.KindLaunch {
				return false
			}
			first.CompareAndSwap(nil, &item.Key)
			return *first.Load() == item.Key
		})
		w.controller("c1", table)
		w.submit(spec("100", 2, within(30*time.Minute)))
		w.await(10*time.Second, "its launch is tried", func() bool { return table.tries.Load() > 0 })
		w.serve(spec("200", 1), time.Minute)
		w.serve(spec("300", 1, ofClass("large")), time.Minute)
		w.submit(spec("400", 4, within(30*time.Minute))) // the caps count the launch that is not written
		time.Sleep(5 * time.Minute)
		if n := w.Fleet.Launched(); n > 6-2 {
			t.Errorf("%d machines launched, want the cap of 6 without the 2 of the launch that is not written", n)
		}
		if p := w.status("100").Phase; p != statemachine.Pending {
			t.Errorf("request 100 is %s, want Pending", p)
		}
		table.takeAll()
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		if n := w.Fleet.Launched(); n > 6 {
			t.Errorf("%d machines launched, want 6 at most", n)
		}
	})
}

// All instances of a launch have records except one, whose record cannot be written. The caps count each instance once.
func TestLaunch_OneInstanceTakesNoWrite_CapsCountOnce_Review_C16(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 6 })
		table := w.unwritableTable()
		table.refuseFirst(func(store.Instance) bool { return true })
		w.controller("c1", table)
		w.submit(spec("100", 3, within(30*time.Minute)))
		w.await(10*time.Second, "two of three instances are recorded", func() bool { return len(w.Instances()) == 2 })
		w.serve(spec("200", 3), time.Minute)
		table.takeAll()
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.launched(6)
	})
}

// An instance of a launch that stays open is reclaimed. It is replaced, and the status counts each instance of the launch once.
func TestLaunch_OneInstanceTakesNoWrite_LostOneReplaced_Review_C16(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := w.unwritableTable()
		table.refuseFirst(func(store.Instance) bool { return true })
		w.controller("c1", table)
		w.submit(spec("100", 3, within(30*time.Minute)))
		w.await(30*time.Second, "two of three instances are recorded", func() bool { return w.status("100").Counts.Created == 2 })
		if c := w.status("100").Counts; c.Launching != 1 || c.Launched != 2 {
			t.Errorf("status counts %+v, want 1 launching and 2 launched", c)
		}
		w.Crash(slices.Sorted(maps.Keys(w.Instances()))[0])
		w.await(2*time.Minute, "it is replaced", func() bool { return w.Fleet.Launched() == 4 })
		table.takeAll()
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.launched(4)
	})
}

// The same happens with a minimum idle: instances of the launch that requests take are replaced.
func TestFloors_OneNewInstanceTakesNoWrite_Refilled_Review_C9(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 3)
		table := w.unwritableTable()
		table.refuseFirst(func(store.Instance) bool { return true })
		w.controller("c1", table)
		w.await(2*time.Minute, "two are idle", func() bool { return w.pooled() == 2 })
		w.serve(spec("100", 2), time.Minute)
		w.await(2*time.Minute, "two others are", func() bool { return w.pooled() == 2 })
		table.takeAll()
		w.await(2*time.Minute, "all are", func() bool { return w.pooled() == 3 })
		w.launched(5)
	})
}

// A launch whose record takes no write keeps no request open that is over.
func TestLaunch_OneRecordTakesNoWrite_ItsRequestEnds_Review_C16(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := w.unwritableTable()
		table.refuse(func(item store.Item) bool { return item.Key.Sort == store.KindLaunch })
		w.controller("c1", table)
		w.submit(spec("100", 2))
		w.await(10*time.Second, "its launch is tried", func() bool { return table.tries.Load() > 0 })
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		table.takeAll()
		time.Sleep(5 * time.Minute)
		w.launched(0)
	})
}

// A candidate that takes no write keeps no request from the next one, nor from a launch.
func TestClaims_OneInstanceTakesNoWrite_Review_C9(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := w.unwritableTable()
		w.controller("c1", table)
		pooled := ids(w.warm("100", 2))
		stuck := table.refuseFirst(func(in store.Instance) bool { return in.State == statemachine.Claimed && pooled[in.ID] })
		if st := w.serve(spec("200", 1), 30*time.Second); !st.Instances[0].Warm || st.Instances[0].InstanceID == *stuck.Load() {
			t.Errorf("served by %+v, want the idle instance that takes writes", st.Instances[0])
		}
		if st := w.serve(spec("300", 1), time.Minute); st.Instances[0].Warm {
			t.Errorf("served by %+v, want a new instance", st.Instances[0])
		}
		table.takeAll()
		w.serve(spec("400", 1), 30*time.Second)
		w.launched(3)
	})
}

// If one drain order cannot be accepted, the other orders are still carried out.
func TestDrains_OneOrderTakesNoWrite_Review_C10(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := w.unwritableTable()
		table.refuse(func(item store.Item) bool { return item.Key == store.DrainKey("a") })
		w.controller("c1", table)
		w.warm("100", 2)
		pooled := slices.Sorted(maps.Keys(w.Instances()))
		w.drain(store.DrainOrder{ID: "a", InstanceID: pooled[0]})
		w.drain(store.DrainOrder{ID: "b", InstanceID: pooled[1]})
		w.await(time.Minute, "the other order is carried out", func() bool { return w.instance(pooled[1]).State == statemachine.Terminated })
		table.takeAll()
		w.await(time.Minute, "so is the first", func() bool { return w.instance(pooled[0]).State == statemachine.Terminated })
	})
}

// A seat that cannot be renewed keeps no other seat of its request from being filled.
func TestSeats_OneTakesNoWrite_Review_C9(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Waive(sim.HealthyLives)
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		table := w.unwritableTable()
		w.controller("c1", table)
		first := w.serve(spec("100", 1), time.Minute)
		w.submit(spec("200", 2, within(20*time.Minute)))
		w.await(time.Minute, "one is ready", func() bool { return w.status("200").Counts.Ready == 1 })
		for id, in := range w.Instances() {
			if in.RunID == "200" {
				table.refuse(func(item store.Item) bool { // its renewal
					now, is := instanceIn(item)
					return is && now.ID == id && now.State == in.State && now.Threshold.After(in.Threshold.Time)
				})
			}
		}
		w.await(8*time.Minute, "its renewal is tried", func() bool { return table.tries.Load() > 0 })
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "the other seat is filled", func() bool { return w.instance(first.Instances[0].InstanceID).RunID == "200" })
		table.takeAll()
	})
}
