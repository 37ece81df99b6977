package reconciler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// faint is the store of agents whose heartbeats do not get through for a while, though all else does.
type faint struct {
	store.Table
	mute atomic.Bool
}

func (f *faint) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key.Sort == store.KindHeartbeat && f.mute.Load() {
		return store.ErrUnavailable
	}
	return f.Table.Put(ctx, item, expect)
}

// S07 S33 S63: a claimed instance that is online but whose heartbeat has gone stale is not handed over; once it is heard again
// it is, with the run it had and the run's time from then on.
func TestHandOver_HealthyAndOnline_RunningThreshold_S07(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		beats := &faint{Table: w.Table}
		w.AgentTable = beats
		w.Config.Limits.ClaimGate = time.Minute
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Hub.SetLatency(githubsim.Latency{Session: 20 * time.Second}) // longer than a heartbeat stays fresh
		r := spec("200", 1)
		r.MaxRuntime = store.SecondsOf(17 * time.Minute)
		w.submit(r)
		w.await(5*time.Second, "claimed", func() bool { return w.instance(id).State == statemachine.Claimed })
		claimed := w.instance(id)
		beats.mute.Store(true)
		time.Sleep(25 * time.Second)
		if got := w.said(claimed.Principal); got.Signal != store.RegOK || got.RunID != "200" {
			t.Fatalf("the agent says %+v, want its listener online", got)
		}
		if in := w.instance(id); in.State != statemachine.Claimed {
			t.Fatalf("%s is %s with a heartbeat of 25 s ago, want it claimed", id, in.State)
		}
		beats.mute.Store(false)
		heard := w.Clock.Now()
		w.awaitPhase("200", 1, statemachine.Ready, 20*time.Second)
		in := w.instance(id)
		if in.State != statemachine.Running || in.RunID != "200" || in.Assignment != claimed.Assignment || in.ChangedAt.Before(heard) {
			t.Errorf("%s is %s of %q, assignment %d, %s after its agent was heard; want it running for 200, assignment %d",
				id, in.State, in.RunID, in.Assignment, in.ChangedAt.Sub(heard), claimed.Assignment)
		}
		if left := in.Threshold.Sub(in.ChangedAt.Time); left != 17*time.Minute {
			t.Errorf("its threshold is in %s, want the run's 17m", left)
		}
	})
}

// S44: an idle instance whose heartbeat is stale is no candidate, long before it is given up; heard again, it is one.
func TestStaleIdle_IsNoCandidate_S44(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		beats := &faint{Table: w.Table}
		w.AgentTable = beats
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		beats.mute.Store(true)
		time.Sleep(w.Config.Limits.Window() + w.Config.WarmPoll + time.Second)
		w.AgentTable = nil
		w.submit(spec("200", 1))
		if s := w.awaitPhase("200", 1, statemachine.Ready, time.Minute).Instances[0]; s.Warm || w.Owners(id) != 1 {
			t.Errorf("run 200 got %+v, and %s had %d owners; want a new one and %s left alone", s, id, w.Owners(id), id)
		}
		beats.mute.Store(false)
		time.Sleep(w.Config.WarmPoll + w.Config.Limits.Beat)
		if in := w.instance(id); in.State != statemachine.Idle || in.PooledAt.IsZero() {
			t.Fatalf("%s is %s for %q, want it pooled still", id, in.State, in.Reason)
		}
		w.submit(spec("300", 1))
		if st := w.awaitPhase("300", 1, statemachine.Ready, time.Minute); !ids(st)[id] || w.Fleet.Launched() != 2 {
			t.Errorf("run 300 got %v of %d machines, want %s", ids(st), w.Fleet.Launched(), id)
		}
	})
}

// said returns what an agent reported last.
func (w *world) said(p store.Principal) store.SignalValue {
	w.t.Helper()
	return w.vitals(p).Signal.Value
}

// S36: a machine that missed two reports is as good as any other: it is claimed.
func TestTwoMissedReports_FailNobody_S36(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		beats := &faint{Table: w.Table}
		w.AgentTable = beats
		w.Config.WarmPoll = time.Second // what is known of it is never older
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		heard := w.beat(w.instance(id).Principal)
		w.await(10*time.Second, "a report", func() bool { return w.beat(w.instance(id).Principal).After(heard) })
		beats.mute.Store(true)
		time.Sleep(w.Config.Limits.Window() - time.Second)
		beats.mute.Store(false)
		w.submit(spec("200", 1))
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); !ids(st)[id] || w.Fleet.Launched() != 1 {
			t.Errorf("run 200 got %v of %d machines, want %s", ids(st), w.Fleet.Launched(), id)
		}
	})
}

// beat returns when an agent's last heartbeat was written.
func (w *world) beat(p store.Principal) time.Time {
	w.t.Helper()
	return w.vitals(p).Heartbeat.UpdatedAt.Time
}

func (w *world) vitals(p store.Principal) store.Vitals {
	w.t.Helper()
	got, err := w.Store.Vitals(w.t.Context(), func(k store.Key, err error) { w.t.Errorf("vitals %v: %v", k, err) }, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[p]
}
