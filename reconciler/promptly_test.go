package reconciler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// slowClaim is a table on which the first write of a claim takes its time.
type slowClaim struct {
	store.Table
	clock clock.Clock
	lasts time.Duration
	begun atomic.Bool
}

func (s *slowClaim) Put(ctx context.Context, item store.Item, expect int64) error {
	var in store.Instance
	if item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil &&
		in.State == statemachine.Claimed && s.begun.CompareAndSwap(false, true) {
		s.clock.Sleep(s.lasts)
	}
	return s.Table.Put(ctx, item, expect)
}

// S60: one seat's claim takes five seconds; the two others are claimed, and their runners online, meanwhile.
func TestClaims_ASlowOneHoldsUpNoOther_S60(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &slowClaim{Table: w.Table, clock: w.Clock, lasts: 5 * time.Second}
		defer w.controller("c1", table)()
		w.warm("100", 3, nil)
		w.submit(spec("200", 3))
		w.await(time.Second, "two claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.await(2*time.Second, "two online", func() bool { return len(w.runners()) >= 2 })
		if st := w.status("200"); st.Phase != statemachine.Pending || w.in(statemachine.Idle) != 1 {
			t.Fatalf("%s with %d idle, want the third claim under way", st.Phase, w.in(statemachine.Idle))
		}
		w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
		if n := w.Fleet.Launched(); n != 3 {
			t.Errorf("launched %d, want the 3 of the pool and no more", n)
		}
	})
}

// ringless is a table that tells its watcher of nothing that agents write.
type ringless struct{ store.Table }

func (r ringless) Watch(ctx context.Context, ring func(store.Key)) error {
	return r.Table.Watch(ctx, func(k store.Key) {
		if k.Sort != store.KindSignal && k.Sort != store.KindHeartbeat {
			ring(k)
		}
	})
}

// S83: the report that a machine is clean makes it claimable within one look at those that are awaited, also where no
// ring tells of it, and whenever it comes between two looks at all of them.
func TestPooled_WithinOneLook_WithoutARing_S83(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", ringless{w.Table})()
		for i := range 5 {
			run := fmt.Sprint(100 + i)
			w.submit(spec(run, 1))
			id := w.awaitPhase(run, 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
			time.Sleep(time.Duration(i) * w.Config.WarmPoll / 5)
			w.release(run, 1, store.Drain)
			w.await(10*time.Second, "clean", func() bool { return w.signal(id) == store.RemoveOK })
			if took := w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 }); took > w.Config.HotPoll {
				t.Errorf("%s was pooled %s after its report, want within %s", id, took, w.Config.HotPoll)
			}
		}
	})
}

// S11 H07 H62: a machine ends that runs a run, whose silence would count after five minutes: the fleet says so, and its record
// follows within a sweep, whenever it ends between two.
func TestEnded_FollowedWithinASweep_S11_H07(t *testing.T) {
	const phases = 6
	for phase := range phases {
		run(t, func(t *testing.T, w *world) {
			defer w.controller("c1", nil)()
			w.submit(spec("100", 1))
			id := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
			time.Sleep(time.Duration(phase) * w.Config.Sweep / phases)
			w.Crash(id)
			w.await(w.Config.Sweep+time.Second, "the record follows", func() bool { return w.instance(id).State == statemachine.Terminated })
			if why := w.instance(id).Reason; why != statemachine.ReasonGone {
				t.Errorf("ended for %q, want %q", why, statemachine.ReasonGone)
			}
			w.await(time.Minute, "its seat is filled again", func() bool { return w.in(statemachine.Running) == 1 })
		})
	}
}

// H07: so does the record of one that no listing shows any more, within two sweeps: one listing may lack what lives.
func TestVanished_FollowedWithinTwoSweeps_H07(t *testing.T) {
	const phases = 6
	for phase := range phases {
		run(t, func(t *testing.T, w *world) {
			fleet := &blind{Fleet: w.Fleet}
			defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
			w.submit(spec("100", 1))
			id := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
			time.Sleep(w.Config.Limits.Visibility + time.Duration(phase)*w.Config.Sweep/phases)
			fleet.lacks.Store(&id)
			w.Hang(id)
			w.await(2*w.Config.Sweep+time.Second, "the record follows", func() bool { return w.instance(id).State == statemachine.Terminated })
			if why := w.instance(id).Reason; why != statemachine.ReasonGone {
				t.Errorf("ended for %q, want %q", why, statemachine.ReasonGone)
			}
		})
	}
}

// S33: a warm start calls the fleet not at all, and GitHub for its registrations alone: readiness is what agents report.
func TestWarmStart_AsksNeitherFleetNorGitHub_S33(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Sweep, w.Config.Runners = time.Hour, time.Hour
		defer w.controller("c1", nil)()
		w.warm("100", 2, nil)
		time.Sleep(10 * time.Second)
		fleetCalls := func() (n int) {
			for _, c := range []fleettest.Call{fleettest.CallPlan, fleettest.CallLaunch, fleettest.CallTerminate, fleettest.CallList, fleettest.CallTemplate} {
				n += w.Fleet.Calls(c)
			}
			return n
		}
		calls, before := fleetCalls(), w.Hub.Calls()
		w.submit(spec("200", 2))
		w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
		if n := fleetCalls() - calls; n != 0 {
			t.Errorf("%d calls of the fleet, want none", n)
		}
		after := w.Hub.Calls()
		for _, c := range clientCalls {
			want := 0
			if c == githubsim.CallJIT {
				want = 2
			}
			if n := after[c] - before[c]; n != want {
				t.Errorf("%d calls %s of GitHub, want %d", n, c, want)
			}
		}
	})
}

// failingClaim is a table on which the first write of a claim fails at once, and the others take a second.
type failingClaim struct {
	store.Table
	clock  clock.Clock
	failed atomic.Bool
}

func (f *failingClaim) Put(ctx context.Context, item store.Item, expect int64) error {
	var in store.Instance
	if item.Key.Sort != store.KindInstance || json.Unmarshal(item.Attributes, &in) != nil || in.State != statemachine.Claimed {
		return f.Table.Put(ctx, item, expect)
	}
	if f.failed.CompareAndSwap(false, true) {
		return store.ErrRefused
	}
	select {
	case <-f.clock.After(time.Second):
		return f.Table.Put(ctx, item, expect)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// S60: one seat's claim fails; the two others, which are under way, go on.
func TestClaims_AFailingOneStopsNoOther_S60(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &failingClaim{Table: w.Table, clock: w.Clock}
		defer w.controller("c1", table)()
		w.warm("100", 3, nil)
		w.submit(spec("200", 3))
		w.await(1100*time.Millisecond, "two claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
	})
}
