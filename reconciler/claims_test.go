package reconciler_test

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Candidates are the pooled machines without the one whose claim is under way, of the controller that leads and has read
// the records. Where none are known there is no answer, which is not the same as none.
func TestCandidates_WhatLiesInThePool(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		check := func(when string, op *reconciler.Operator, want map[store.InstanceID]bool) {
			t.Helper()
			if got := op.Candidates(); (got == nil) != (want == nil) || !maps.Equal(got, want) {
				t.Errorf("%s: Candidates = %v (known: %t), want %v (known: %t)", when, got, got != nil, want, want != nil)
			}
		}
		held := &heldWrite{Table: w.Table, clock: w.Clock, lasts: 5 * time.Second, match: ofState(statemachine.Claimed)}
		first, stop := w.operator("c1", reconciler.Options{Table: held})
		check("nothing pooled", first, map[store.InstanceID]bool{})
		second, _ := w.operator("c2", reconciler.Options{Table: &drowsy{Table: w.Table, takes: 4 * time.Second}})
		check("another leads", second, nil)

		pooled := ids(w.warm("100", 2))
		check("two pooled", first, pooled)
		w.submit(spec("200", 1))
		time.Sleep(time.Second)
		during := first.Candidates()
		claimed := ids(w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second))
		left := maps.Clone(pooled)
		maps.DeleteFunc(left, func(id store.InstanceID, _ bool) bool { return claimed[id] })
		if !held.held.Load() || len(left) != 1 || !maps.Equal(during, left) {
			t.Errorf("while %v was claimed of %v: Candidates = %v, want %v", claimed, pooled, during, left)
		}
		check("one claimed", first, left)

		stop()
		check("stopped", first, nil)
		w.await(5*time.Second, "the other one leads", func() bool {
			l, err := w.Store.Lease(t.Context())
			return err == nil && l.Holder == "c2"
		})
		time.Sleep(time.Second)
		check("the records are being read", second, nil)
		time.Sleep(4 * time.Second)
		check("the other one has read them", second, left)
	})
}

// S27: the threshold of an idle instance passes, and its end is decided, while the write that claims it is under way.
// It was claimed in time, so it lives and serves its run.
func TestThresholdPasses_DuringTheClaim_S27(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &heldWrite{Table: w.Table, clock: w.Clock, lasts: 5 * time.Second, match: ofState(statemachine.Claimed)}
		defer w.controller("c1", table)()
		id := w.warm("100", 1).Instances[0].InstanceID
		threshold := w.instance(id).Threshold
		time.Sleep(threshold.Sub(w.Clock.Now()) - time.Second)
		w.submit(spec("200", 1))
		time.Sleep(4 * time.Second)
		if in := w.instance(id); !table.held.Load() || in.State != statemachine.Idle || !in.Threshold.Equal(threshold) {
			t.Fatalf("%s is %s, %s past its threshold; want the write of its claim under way", id, in.State, w.Clock.Since(threshold.Time))
		}
		if st := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second); !ids(st)[id] || w.instance(id).State != statemachine.Running {
			t.Errorf("run 200 got %v, and %s is %s", ids(st), id, w.instance(id).State)
		}
		w.awaitJobs(w.jobs("200", 1, 60), 2*time.Minute)
	})
}

// S27 H28: the same while a claim that waits for its siblings is being renewed.
func TestThresholdPasses_DuringTheRenewal_S27(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Limits.CreateGate, c.Limits.Created = 10*time.Minute, 11*time.Minute })
		table := &heldWrite{
			Table: w.Table, clock: w.Clock, lasts: w.Config().Limits.Claimed/2 + 20*time.Second,
			match: func(in store.Instance) bool {
				return in.State == statemachine.Claimed && in.Threshold.Sub(in.Since.Time) > w.Config().Limits.Claimed
			},
		}
		defer w.controller("c1", table)()
		id := w.warm("100", 1).Instances[0].InstanceID
		w.Boot = 8 * time.Minute // of the second one
		w.submit(spec("200", 2, within(15*time.Minute)))
		w.await(10*time.Second, "claimed", func() bool { return w.instance(id).State == statemachine.Claimed })
		threshold := w.instance(id).Threshold
		time.Sleep(threshold.Sub(w.Clock.Now()) + 5*time.Second)
		if in := w.instance(id); !table.held.Load() || !in.Threshold.Equal(threshold) {
			t.Fatalf("%s is %s with a threshold in %s; want the write of its renewal under way", id, in.State, in.Threshold.Sub(w.Clock.Now()))
		}
		if st := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Minute); !ids(st)[id] {
			t.Errorf("run 200 got %v without %s", ids(st), id)
		}
	})
}

// H27: a machine whose claim still waits for its registration, since GitHub was down and the leader died, is not blamed for
// it by the next leader, however long that one reads before its first look.
func TestClaim_WithoutRegistration_IsNotBlamedForALongFirstScan_H27(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		id := w.warm("100", 1).Instances[0].InstanceID
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallJIT}})
		w.submit(spec("200", 1))
		w.await(time.Second, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		stop()
		w.Hub.SetOutage(githubsim.Outage{})
		defer w.controller("c2", &drowsy{Table: w.Table, takes: 2 * w.Config().Limits.ClaimGate})()
		if st := w.awaitPhase("200", 1, statemachine.Ready, 3*w.Config().Limits.ClaimGate); !ids(st)[id] {
			t.Errorf("run 200 was given %v, want %s, which it had claimed", ids(st), id)
		}
	})
}

// H12 H13: the store takes no writes for five seconds in the middle of a claim. The registration that was
// made then is delivered afterwards; the pool is not passed over for failures that were the store's.
func TestStoreDown_InTheMiddleOfAClaim(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 3)
		w.Hub.SetLatency(githubsim.Latency{API: 100 * time.Millisecond})
		w.submit(spec("200", 3))
		time.Sleep(20 * time.Millisecond)
		w.Down(true)
		time.Sleep(5 * time.Second)
		w.Down(false)
		w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second)
		w.launched(3)
	})
}

// S60: one seat's claim takes five seconds; the two others are claimed, and their runners online, meanwhile.
func TestClaims_ASlowOneHoldsUpNoOther_S60(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &heldWrite{Table: w.Table, clock: w.Clock, lasts: 5 * time.Second, match: ofState(statemachine.Claimed)}
		defer w.controller("c1", table)()
		w.warm("100", 3)
		w.submit(spec("200", 3))
		w.await(time.Second, "two claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.await(2*time.Second, "two online", func() bool { return len(w.runners()) >= 2 })
		if st := w.status("200"); st.Phase != statemachine.Pending || w.in(statemachine.Idle) != 1 {
			t.Fatalf("%s with %d idle, want the third claim under way", st.Phase, w.in(statemachine.Idle))
		}
		w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
		w.launched(3)
	})
}

// withoutNotifications is a table that notifies its watcher of nothing that agents write.
type withoutNotifications struct{ store.Table }

func (r withoutNotifications) Watch(ctx context.Context, notified func(store.Key)) error {
	return r.Table.Watch(ctx, func(k store.Key) {
		if k.Sort != store.KindSignal && k.Sort != store.KindHeartbeat {
			notified(k)
		}
	})
}

// S83: the report that a machine is clean makes it claimable within one look at those that are awaited, also where no
// notification comes, and whenever it comes between two looks at all of them.
func TestPooled_WithinOneLook_WithoutARing_S83(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", withoutNotifications{w.Table})()
		for i := range 5 {
			run := fmt.Sprint(100 + i)
			w.submit(spec(run, 1))
			id := w.awaitPhase(run, 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
			time.Sleep(time.Duration(i) * w.Config().WarmPoll / 5)
			w.release(run, 1, store.ReleaseDrain)
			w.await(10*time.Second, "clean", func() bool { return w.signal(id) == store.RemoveOK })
			if took := w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 }); took > w.Config().HotPoll {
				t.Errorf("%s was pooled %s after its report, want within %s", id, took, w.Config().HotPoll)
			}
		}
	})
}

// S33: a warm start calls the fleet not at all, and GitHub for its registrations alone: readiness is what agents report.
func TestWarmStart_AsksNeitherFleetNorGitHub_S33(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Sweep, c.Runners = time.Hour, time.Hour })
		defer w.controller("c1", nil)()
		w.warm("100", 2)
		time.Sleep(10 * time.Second)
		fleetCalls := func() (n int) {
			for _, c := range []fleettest.Call{fleettest.CallPlan, fleettest.CallLaunch, fleettest.CallTerminate, fleettest.CallList, fleettest.CallTemplate} {
				n += w.Fleet.Calls(c)
			}
			return n
		}
		calls, before := fleetCalls(), w.Hub.Calls()
		w.serve(spec("200", 2), 10*time.Second)
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

// S60: one seat's claim fails; the two others, which are under way, go on.
func TestClaims_AFailingOneStopsNoOther_S60(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var failed atomic.Bool // the first claim has at once; the others take a second
		defer w.controller("c1", held{w.Table, func(ctx context.Context, item store.Item) error {
			if in, ok := instanceIn(item); !ok || in.State != statemachine.Claimed {
				return nil
			}
			if failed.CompareAndSwap(false, true) {
				return store.ErrRefused
			}
			select {
			case <-w.Clock.After(time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}})()
		w.warm("100", 3)
		w.submit(spec("200", 3))
		w.await(1100*time.Millisecond, "two claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second)
	})
}

// H12: that the store refuses claims for a minute is no lost race: the candidate is neither passed over nor
// replaced by a launch, which the store would take.
func TestClaim_StoreErrorIsNoLostRace_H12(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &refusing{Table: w.Table, match: ofState(statemachine.Claimed)}
		defer w.controller("c1", table)()
		id := w.warm("100", 1).Instances[0].InstanceID
		table.on.Store(true)
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		table.on.Store(false)
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); !ids(st)[id] {
			t.Errorf("run 200 got %+v, want the warm %s", st.Instances, id)
		}
		w.launched(1)
	})
}

// S11 S23 S63 S66 H07 H29: a machine lost during the claim: it ends, its seat is filled again, the others stay.
func TestAgentKilledDuringClaim(t *testing.T) {
	for _, how := range []string{"crash", "hang"} {
		t.Run(how, storyLed(func(t *testing.T, w *world) {
			w.warm("100", 3)
			w.Hub.SetLatency(githubsim.Latency{Session: 3 * time.Second}) // so that the claim takes a while
			w.submit(spec("200", 3))
			var victim store.InstanceID
			w.await(10*time.Second, "claimed", func() bool {
				for id, in := range w.Instances() {
					if in.State == statemachine.Claimed {
						victim = id
					}
				}
				return victim != ""
			})
			if how == "crash" {
				w.Crash(victim)
			} else {
				w.Hang(victim)
			}
			st := w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
			if ids(st)[victim] || len(ids(st)) != 3 {
				t.Errorf("run 200 got %v without %s, want three others", ids(st), victim)
			}
			if in := w.Instances()[victim]; in.State != statemachine.Terminated || in.Reason == "" {
				t.Errorf("victim: %s for %q, want terminated with a reason", in.State, in.Reason)
			}
			w.launched(4)
		}))
	}
}
