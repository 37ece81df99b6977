package reconciler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// refusing is a table that takes none of some records of instances while it is told so, and everything else.
type refusing struct {
	store.Table
	match func(store.Instance) bool
	on    atomic.Bool
	mu    sync.Mutex
	seen  func(store.Item) // of what it takes, with mu held; nil: nothing to see
}

func (r *refusing) Put(ctx context.Context, item store.Item, expect int64) error {
	var in store.Instance
	if r.on.Load() && item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil && r.match(in) {
		return fmt.Errorf("put: credentials have expired: %w", store.ErrRefused)
	}
	err := r.Table.Put(ctx, item, expect)
	if err == nil && r.seen != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen(item)
	}
	return err
}

func ofState(s statemachine.State) func(store.Instance) bool {
	return func(in store.Instance) bool { return in.State == s }
}

// H12: that the store refuses claims for a minute is no lost race: the candidate is neither passed over nor
// replaced by a launch, which the store would take.
func TestClaim_StoreErrorIsNoLostRace_H12(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &refusing{Table: w.Table, match: ofState(statemachine.Claimed)}
		defer w.controller("c1", table)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		table.on.Store(true)
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		table.on.Store(false)
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); !ids(st)[id] {
			t.Errorf("run 200 got %+v, want the warm %s", st.Instances, id)
		}
		if n := w.Fleet.Launched(); n != 1 {
			t.Errorf("launched %d, want the 1 of the pool and no more", n)
		}
	})
}

// H02 S03: the records of what a launch brought are refused at first. The launch is not over, and no request is
// told of it, before all of them are.
func TestLaunch_OverOnceAllIsRecorded_S03_H02(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var over atomic.Int64
		table := &refusing{Table: w.Table, match: ofState(statemachine.Created), seen: func(item store.Item) {
			var l store.Launch
			if item.Key.Sort != store.KindLaunch || json.Unmarshal(item.Attributes, &l) != nil || !l.Done {
				return
			}
			for _, seat := range l.Seats {
				over.Add(int64(len(seat.Instances)))
				for _, id := range seat.Instances {
					if w.instance(id).ID != id {
						t.Errorf("launch %s is over, and %s has no record", l.Token, id)
					}
				}
			}
		}}
		table.on.Store(true)
		defer w.controller("c1", table)()
		w.submit(spec("100", 3))
		time.Sleep(time.Minute)
		if n := w.Fleet.Launched(); n != 3 || over.Load() != 0 || len(w.Instances()) != 0 {
			t.Fatalf("%d machines launched, %d told of, %d recorded; want 3 of which nothing is written", n, over.Load(), len(w.Instances()))
		}
		table.on.Store(false)
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		if n := w.Fleet.Launched(); n != 3 || over.Load() != 3 {
			t.Errorf("%d launched, %d told of, want 3 and 3", n, over.Load())
		}
	})
}

// mumbling takes the first record of a launch, does not say so, and refuses new ones for a while then.
type mumbling struct {
	store.Table
	since atomic.Int64 // when the first came, in ns; 0: none did
	lasts time.Duration
}

func (m *mumbling) Put(ctx context.Context, item store.Item, expect int64) error {
	switch now := time.Now().UnixNano(); {
	case item.Key.Sort != store.KindLaunch, expect != 0:
	case m.since.CompareAndSwap(0, now):
		if err := m.Table.Put(ctx, item, expect); err != nil {
			return err
		}
		return fmt.Errorf("put: no answer: %w", store.ErrUnavailable)
	case time.Duration(now-m.since.Load()) < m.lasts:
		return fmt.Errorf("put: credentials have expired: %w", store.ErrRefused)
	}
	return m.Table.Put(ctx, item, expect)
}

// H32: the intent of a launch that may have been written is written again as it was: another would be another launch.
func TestLaunch_IntentOfUnknownOutcome_IsTheSameLaunch_H32(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &mumbling{Table: w.Table, lasts: time.Second}
		defer w.controller("c1", table)()
		w.submit(spec("100", 2))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		time.Sleep(2 * w.Config.Scan) // which finds the records of all launches
		if n := w.Fleet.Launched(); n != 2 || table.since.Load() == 0 {
			t.Errorf("%d machines launched for 2 seats", n)
		}
	})
}

// H32 H36: a scan that finds the intent first lets it be carried out, and nothing waits for it to be written any more.
func TestLaunch_IntentOfUnknownOutcome_FoundByAScan_H32(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Scan = time.Minute
		defer w.controller("c1", &mumbling{Table: w.Table, lasts: 5 * time.Minute})()
		w.submit(spec("100", 2))
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		time.Sleep(10 * time.Minute)
		if n := w.Fleet.Launched(); n != 2 {
			t.Errorf("%d machines launched for 2 seats", n)
		}
		w.release("100", 1, store.Drain)
		w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
	})
}

// H17: the controller dies half-way through a release, before it could pool a machine that is clean. The next one does,
// although nothing tells of it any more.
func TestRelease_FinishedByTheNextController_H17(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &refusing{Table: w.Table, match: func(in store.Instance) bool { return !in.PooledAt.IsZero() }}
		table.on.Store(true)
		stop := w.controller("c1", table)
		w.submit(spec("100", 1))
		id := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
		w.release("100", 1, store.Drain)
		w.await(time.Minute, "clean", func() bool { return w.signal(id) == store.RemoveOK })
		stop()
		if in := w.instance(id); in.State != statemachine.Idle || w.pooled() != 0 {
			t.Fatalf("%s is %s, %d pooled; want idle and not pooled", id, in.State, w.pooled())
		}
		time.Sleep(10 * time.Second)
		w.controller("c2", nil)
		w.await(10*time.Second, "pooled", func() bool { return w.pooled() == 1 })
		w.await(10*time.Second, "released", func() bool { return w.status("100").Phase == statemachine.ReleasedPhase })
	})
}

// signal returns what the agent of an instance reported last.
func (w *world) signal(id store.InstanceID) store.SignalName {
	w.t.Helper()
	p := w.instance(id).Principal
	got, err := w.Store.Vitals(w.t.Context(), func(store.Key, error) {}, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[p].Signal.Value.Signal
}
