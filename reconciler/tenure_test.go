package reconciler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// cutTable is the store of one controller, which may lose its way there: wholly, or for writes alone.
type cutTable struct {
	store.Table
	reads, writes atomic.Bool // they fail
}

func (c *cutTable) Get(ctx context.Context, cons store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if c.reads.Load() {
		return nil, store.ErrUnavailable
	}
	return c.Table.Get(ctx, cons, keys...)
}

func (c *cutTable) Scan(ctx context.Context, yield func(store.Item) error) error {
	if c.reads.Load() {
		return store.ErrUnavailable
	}
	return c.Table.Scan(ctx, yield)
}

func (c *cutTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if c.writes.Load() {
		return store.ErrUnavailable
	}
	return c.Table.Put(ctx, item, expect)
}

// cut begins or ends an outage.
func (c *cutTable) cut(wholly, on bool) {
	c.writes.Store(on)
	c.reads.Store(on && wholly)
}

// Invariant 4 invariant 6: a leader that loses the store, wholly or for writes alone, for minutes or an hour, while it reaches the
// fleet and GitHub: its successor's machines are unknown to it, and it ends none of them, nor any of its own.
func TestCutOff_TheDeposedEndsNothing(t *testing.T) {
	takesLong(t)
	for _, tt := range []struct {
		name   string
		open   openBackends
		outage time.Duration
	}{
		{"Memory", inMemory, 5 * time.Minute},
		{"Memory", inMemory, time.Hour},
		{"SQLite", onSQLite, 5 * time.Minute}, // an hour of it would be half a minute of real time
	} {
		for _, wholly := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/wholly=%v/%s", tt.name, wholly, tt.outage), func(t *testing.T) {
				runOn(t, tt.open, func(t *testing.T, w *world) { cutOffStory(t, w, wholly, tt.outage) })
			})
		}
	}
}

func cutOffStory(t *testing.T, w *world, wholly bool, outage time.Duration) {
	t.Helper()
	w.IdlePoll = time.Second
	old := &cutTable{Table: w.Table}
	w.controller("old", old)
	w.serve(long("100", 2), time.Minute)
	jobs := w.jobs("100", 2, (outage + 10*time.Minute).Seconds())
	defer w.controller("new", nil)()
	time.Sleep(5 * time.Second)
	old.cut(wholly, true)
	w.serve(long("200", 3), time.Minute)
	jobs = append(jobs, w.jobs("200", 3, (outage+10*time.Minute).Seconds())...)
	calls := w.Hub.Calls()[githubsim.CallJIT] + w.Hub.Calls()[githubsim.CallDelete]
	w.submit(spec("300", 1)) // while the old one might take the notification
	w.awaitPhase("300", 1, statemachine.Ready, time.Minute)
	time.Sleep(outage)
	if n := len(w.Fleet.Alive()); n < 5 {
		t.Errorf("%d machines live at the end of the outage, want the five that are busy", n)
	}
	if n := w.Hub.Calls()[githubsim.CallJIT] + w.Hub.Calls()[githubsim.CallDelete] - calls; n > 20 {
		t.Errorf("%d registrations and deletions at GitHub, want those of one request", n)
	}
	old.cut(wholly, false)
	for _, j := range w.awaitJobs(jobs, outage+30*time.Minute) {
		if j.Conclusion != "success" {
			t.Errorf("job %s on %s: %s", j.ID, j.InstanceID, j.Conclusion)
		}
	}
	w.launched(6)
}

// long is a request whose run may last for hours.
func long(id string, count int) store.RunRequest {
	return spec(id, count, lasting(4*time.Hour))
}

// While the store takes no writes, what waits costs GitHub a handful of registrations and no more: 1,500 of them in
// five minutes are everybody's.
func TestStoreTakesNoWrites_FewRegistrations(t *testing.T) {
	takesLong(t)
	for _, count := range []int{1, 10} {
		t.Run(fmt.Sprint(count), storyLed(func(t *testing.T, w *world) {
			w.warm("100", 20)
			w.Hub.SetLatency(githubsim.Latency{API: 200 * time.Millisecond})
			before := w.Hub.Calls()
			w.submit(spec("200", count))
			w.Down(true)
			time.Sleep(time.Minute)
			after := w.Hub.Calls()
			made, deleted := after[githubsim.CallJIT]-before[githubsim.CallJIT], after[githubsim.CallDelete]-before[githubsim.CallDelete]
			if made > 2*count || deleted > 2*count {
				t.Errorf("%d registrations and %d deletions in a minute without writes, for %d seats", made, deleted, count)
			}
			w.Down(false)
			w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
			w.checkNoneEnded()
		}))
	}
}

// H12: the only controller lives through an outage of the store, longer than any limit of silence, and ends nobody.
func TestLoneLeader_LivesThroughAnOutage_H12(t *testing.T) {
	takesLong(t)
	for _, wholly := range []bool{true, false} {
		t.Run(fmt.Sprintf("wholly=%v", wholly), story(func(t *testing.T, w *world) {
			only := &cutTable{Table: w.Table}
			defer w.controllerWith("only", reconciler.Options{Table: only})()
			w.serve(long("100", 4), time.Minute)
			jobs := w.jobs("100", 4, 1200)
			only.cut(wholly, true)
			time.Sleep(15 * time.Minute)
			only.cut(wholly, false)
			for _, j := range w.awaitJobs(jobs, 20*time.Minute) {
				if j.Conclusion != "success" {
					t.Errorf("job %s: %s", j.ID, j.Conclusion)
				}
			}
			if n := len(w.Fleet.Alive()); n != 4 || w.Fleet.Launched() != 4 {
				t.Errorf("%d machines live, %d were launched, want the same 4", n, w.Fleet.Launched())
			}
		}))
	}
}

// Invariant 7: while the store takes nobody's writes, a client cannot say that it lives: its request waits on, however long that
// lasts.
func TestStoreTakesNoWrites_NoClientHasGone(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.submit(spec("100", 1, within(time.Hour)))
		w.awaitPhase("100", 1, statemachine.Pending, time.Minute)
		time.Sleep(30 * time.Second)
		w.Down(true)
		time.Sleep(5 * time.Minute)
		w.Down(false)
		time.Sleep(time.Minute)
		w.Fleet.SetCapacity(fleet.Slot{}, fleettest.Unlimited)
		w.awaitPhase("100", 1, statemachine.Ready, 5*time.Minute)
	})
}

// H52: an operator's clock that is ahead or behind neither dismisses what is launched after a drain order nor spares
// what was there before it.
func TestDrain_OperatorsClockDoesNotMatter_H52(t *testing.T) {
	for name, skew := range map[string]time.Duration{"Ahead": 10 * time.Minute, "Behind": -10 * time.Minute, "AgesAhead": 1000 * time.Hour} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			w.serve(spec("100", 2), time.Minute)
			w.release("100", 1, store.ReleaseDrain)
			w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
			w.drain(store.DrainOrder{ID: "all", CreatedAt: store.At(w.Clock.Now().Add(skew))})
			w.await(time.Minute, "both dismissed", func() bool { return w.in(statemachine.Terminated) == 2 })
			w.serve(spec("200", 2), time.Minute)
			time.Sleep(15 * time.Minute)
			w.launched(4) // the two that were drained and two for the next run
			w.release("200", 1, store.ReleaseDrain)
			w.await(time.Minute, "two pooled again", func() bool { return w.pooled() == 2 })
		}))
	}
}

// H52: a lease that was deleted, as an operator does with one that cannot be read, begins no terms anew: an order that is
// in force spares what is launched from then on, and the next one dismisses all that is there.
func TestDrain_AfterTheLeaseWasDeleted_H52(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for range 3 {
			w.controller("c0", nil)() // terms that end
		}
		stop := w.controller("c1", nil)
		w.drain(store.DrainOrder{ID: "first"})
		time.Sleep(w.Config().Scan)
		stop()
		w.Waive(sim.Fenced) // terms begin anew
		w.Under.(*storetest.Memory).Erase(store.LeaseKey)
		w.controller("c2", nil)
		w.warm("100", 2)
		time.Sleep(time.Minute)
		if n := w.pooled(); n != 2 {
			t.Errorf("%d pooled, want the two that were launched after the order", n)
		}
		w.drain(store.DrainOrder{ID: "second"})
		w.await(time.Minute, "both dismissed", func() bool { return w.in(statemachine.Terminated) == 2 })
	})
}

// H12 H27: the store takes no writes for two minutes. Nobody's silence counts, nobody is lost, and the
// request that came meanwhile is served warm once agents report again.
func TestStoreTakesNoWrites_NobodyIsLost(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 2)
		w.serve(spec("200", 1), time.Minute)
		w.Down(true)
		time.Sleep(2 * time.Minute)
		w.Down(false)
		time.Sleep(20 * time.Second)
		if n := w.in(statemachine.Terminated); n != 0 {
			t.Errorf("%d instances were given up while nobody could report", n)
		}
		if st := w.serve(spec("300", 1), time.Minute); !st.Instances[0].Warm {
			t.Errorf("run 300 got %+v, want the warm one", st.Instances[0])
		}
	})
}

// settable is a clock whose wall time can be set, as NTP or an operator does: what elapses does not change.
type settable struct {
	clock.WithTicker
	first time.Duration // how far it was off at first
	by    *atomic.Int64
	set   *atomic.Int64 // what it showed when it was set ahead, in Unix nanoseconds; 0: it was not
}

func (c settable) Now() time.Time { return c.WithTicker.Now().Round(0).Add(time.Duration(c.by.Load())) }

// Since is right for what was read before the clock was set, as a monotonic reading is, and after it was set ahead.
func (c settable) Since(t time.Time) time.Duration {
	if set := c.set.Load(); set != 0 && t.UnixNano() >= set {
		return c.Now().Sub(t)
	}
	return c.WithTicker.Now().Round(0).Add(c.first).Sub(t)
}

// setBy sets the clock.
func (c settable) setBy(by time.Duration) {
	c.by.Store(int64(by))
	if by > 0 {
		c.set.Store(c.Now().UnixNano())
	}
}

func newSettable(w *world, by time.Duration) settable {
	c := settable{w.Clock, by, new(atomic.Int64), new(atomic.Int64)}
	c.by.Store(int64(by))
	return c
}

// offset is what a store says of whose clock is right.
func (c settable) offset() time.Duration { return -time.Duration(c.by.Load()) }

// H52 invariant 6: a controller's wall clock that is ten minutes ahead, or behind, of the store's ends no machine, pooled, booting
// or at work, and writes thresholds in the store's time.
func TestControllersClock_IsTheStores_H52(t *testing.T) {
	for name, by := range map[string]time.Duration{"Ahead": 10 * time.Minute, "Behind": -10 * time.Minute} {
		t.Run(name, story(func(t *testing.T, w *world) {
			c := newSettable(w, by)
			w.controllerWith("c1", reconciler.Options{Clock: c, Offset: c.offset})
			w.warm("100", 3)
			w.serve(spec("200", 1), time.Minute)
			for id, in := range w.Instances() {
				if left := in.Threshold.Sub(w.Clock.Now()); left <= 0 || left > 30*time.Minute {
					t.Errorf("%s (%s) has %s left by everybody else's clock", id, in.State, left)
				}
			}
			w.awaitJobs(w.jobs("200", 1, 60), 5*time.Minute)
			w.give("200", 1, store.ReleaseDrain, time.Minute)
			w.checkNoneEnded()
		}))
	}
}

// A wall clock that is set by ten minutes in the middle of a tenure ends nothing either, and the tenure goes on, if the
// store says its time. Where nobody does, the next tenure begins with the time that the clock shows now: that of all
// others on the same computer.
func TestControllersClock_IsSet_H52(t *testing.T) {
	for name, tc := range map[string]struct {
		by    time.Duration
		known bool
		terms int64
	}{"Ahead": {10 * time.Minute, true, 1}, "Back": {-10 * time.Minute, true, 1}, "NobodySays": {time.Minute, false, 2}, "Slightly": {15 * time.Second, false, 1}} {
		t.Run(name, story(func(t *testing.T, w *world) {
			c := newSettable(w, 0)
			o := reconciler.Options{Clock: c}
			if tc.known {
				o.Offset = c.offset
			}
			w.controllerWith("c1", o)
			w.warm("100", 3)
			w.serve(spec("200", 1), time.Minute)
			c.setBy(tc.by)
			time.Sleep(time.Minute)
			w.checkNoneEnded()
			lease, err := w.Store.Lease(t.Context())
			if err != nil || lease.Term != tc.terms {
				t.Errorf("term %d, %v, want %d", lease.Term, err, tc.terms)
			}
		}))
	}
}
