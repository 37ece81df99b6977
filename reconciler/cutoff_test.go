package reconciler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
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
	w.submit(long("100", 2))
	w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
	jobs := w.jobs("100", 2, (outage + 10*time.Minute).Seconds())
	defer w.controller("new", nil)()
	time.Sleep(5 * time.Second)
	old.cut(wholly, true)
	w.submit(long("200", 3))
	w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
	jobs = append(jobs, w.jobs("200", 3, (outage+10*time.Minute).Seconds())...)
	calls := w.Hub.Calls()[githubsim.CallJIT] + w.Hub.Calls()[githubsim.CallDelete]
	w.submit(spec("300", 1)) // rung while the old one might take the notification
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
	if n := w.Fleet.Launched(); n != 6 {
		t.Errorf("launched %d machines for 6 seats", n)
	}
}

// long is a request whose run may last for hours.
func long(id string, count int) store.RunRequest {
	r := spec(id, count)
	r.MaxRuntime = store.SecondsOf(4 * time.Hour)
	return r
}

// While the store takes no writes, what waits costs GitHub a handful of registrations and no more: 1,500 of them in
// five minutes are everybody's.
func TestStoreTakesNoWrites_FewRegistrations(t *testing.T) {
	for _, count := range []int{1, 10} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.warm("100", 20, nil)
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
			})
		})
	}
}

// H12: the only controller lives through an outage of the store, longer than any limit of silence, and ends nobody.
func TestLoneLeader_LivesThroughAnOutage_H12(t *testing.T) {
	for _, wholly := range []bool{true, false} {
		t.Run(fmt.Sprintf("wholly=%v", wholly), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				only := &cutTable{Table: w.Table}
				defer w.controllerWith("only", reconciler.Options{Table: only})()
				w.submit(long("100", 4))
				w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
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
			})
		})
	}
}

// Invariant 7: while the store takes nobody's writes, a client cannot say that it lives: its request waits on, however long that
// lasts.
func TestStoreTakesNoWrites_NoClientHasGone(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		r := spec("100", 1)
		r.Timeout = store.SecondsOf(time.Hour)
		w.submit(r)
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
