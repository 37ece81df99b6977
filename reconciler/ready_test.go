package reconciler_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S31: a seat that is refilled late runs for the rest of its run's time, not for another max runtime.
func TestRefilledSeat_EndsWithItsRun_S31(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 2), time.Minute)
		end := st.ReadyAt.Add(30 * time.Minute)
		time.Sleep(20 * time.Minute)
		lost := st.Instances[0].InstanceID
		w.Crash(lost)
		w.await(3*time.Minute, "refilled", func() bool { now := ids(w.status("100")); return len(now) == 2 && !now[lost] })
		for id := range ids(w.status("100")) {
			if in := w.instance(id); in.State != statemachine.Running || in.Threshold.After(end) {
				t.Errorf("%s is %s up to %s past its run's time", id, in.State, in.Threshold.Sub(end))
			}
		}
		time.Sleep(end.Sub(w.Clock.Now()))
		w.await(10*time.Second, "all are gone", func() bool { return len(w.Fleet.Alive()) == 0 })
		w.awaitPhase("100", 1, statemachine.PhaseReleased, time.Minute)
	})
}

// H28: what is ready waits for a slow sibling longer than the claimed limit, and is not lost for it.
func TestRenewal_WaitsForASlowSibling_H28(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Limits.CreateGate, c.Limits.Created = 10*time.Minute, 11*time.Minute })
		defer w.controller("c1", nil)()
		st := w.warm("100", 1)
		w.Boot = 8 * time.Minute // of the second one
		got := w.serve(spec("200", 2, within(15*time.Minute)), 10*time.Minute)
		if id := st.Instances[0].InstanceID; !ids(got)[id] {
			t.Errorf("run 200 got %v without the warm %s", ids(got), id)
		}
		w.launched(2)
	})
}

// S10: whenever an instance becomes running a runner of its registration, with the run's label and no other, is
// online at GitHub: cold or warm, in either mode, however long a listener takes to come online.
func TestHandover_RunnerIsOnlineUnderTheLabel_S10(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), story(func(t *testing.T, w *world) {
			w.Configure(func(c *reconciler.Config) { c.Registration = mode })
			w.Hub.SetLatency(githubsim.Latency{Session: 3 * time.Second})
			given := map[store.InstanceID]int64{} // the assignment in which it was
			table := &refusing{Table: w.Table, seen: func(item store.Item) {
				if in, ok := instanceIn(item); ok && in.State == statemachine.Running && given[in.ID] != in.Assignment {
					given[in.ID] = in.Assignment
					w.checkOnline(in)
				}
			}}
			defer w.controller("c1", table)()
			for _, id := range []string{"100", "200"} {
				w.serve(spec(id, 2), 2*time.Minute)
				w.release(id, 1, store.ReleaseDrain)
				w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
			}
			table.mu.Lock()
			defer table.mu.Unlock()
			if len(given) != 2 || w.Fleet.Launched() != 2 {
				t.Errorf("%d of %d machines were handed over, want the same 2 twice", len(given), w.Fleet.Launched())
			}
		}))
	}
}

// ending is a table on which the first instance that becomes running ends just before: somebody else wrote so.
func (w *world) ending(ended *atomic.Pointer[store.InstanceID]) store.Table {
	return held{w.Table, func(ctx context.Context, item store.Item) error {
		var st store.RunStatus
		if in, ok := instanceIn(item); ok && in.State == statemachine.Running && ended.CompareAndSwap(nil, &in.ID) {
			w.Crash(in.ID)
			lost := store.Transition{Event: statemachine.Lost, Now: w.Clock.Now(), Reason: statemachine.ReasonGone}
			if _, err := w.Store.Transition(ctx, w.instance(in.ID), lost); err != nil {
				w.t.Errorf("end %s: %v", in.ID, err)
			}
		} else if item.Key.Sort == store.KindRunStatus && json.Unmarshal(item.Attributes, &st) == nil && st.Phase == statemachine.Ready {
			w.checkRuns(st)
		}
		return nil
	}}
}

// checkRuns holds an answer that says Ready to the records: every instance that it names runs.
func (w *world) checkRuns(st store.RunStatus) {
	for id := range ids(st) {
		if in := w.instance(id); in.State != statemachine.Running {
			w.t.Errorf("an answer says Ready and names %s, which is %s", id, in.State)
		}
	}
}

// S77: one of three machines ends while all are handed over: the answer is Ready once three run, and names no other.
func TestHandover_OneEndsInIt_S77(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var ended atomic.Pointer[store.InstanceID]
		defer w.controller("c1", w.ending(&ended))()
		st := w.serve(spec("100", 3), 2*time.Minute)
		lost := ended.Load()
		if lost == nil {
			t.Fatal("none ended")
		}
		if len(ids(st)) != 3 || ids(st)[*lost] {
			t.Errorf("the answer names %v, want three without %s, which ended", ids(st), *lost)
		}
		if n := w.in(statemachine.Running); n != 3 {
			t.Errorf("%d machines run, want 3", n)
		}
	})
}

// checkOnline looks for the runner of an instance at GitHub.
func (w *world) checkOnline(in store.Instance) {
	for _, r := range w.Hub.Registrations() {
		if r.Name != in.Registration.Name {
			continue
		}
		if !r.Online || len(r.Labels) != 1 || r.Labels[0] != string(in.RunID) {
			w.t.Errorf("%s runs %s with the runner %+v, want one online with that label", in.ID, in.RunID, r)
		}
		return
	}
	w.t.Errorf("%s runs %s without its runner %q at GitHub", in.ID, in.RunID, in.Registration.Name)
}

// faint keeps the heartbeats of agents from getting through while on, though all else does.
func (w *world) faint() (on *atomic.Bool) {
	on = new(atomic.Bool)
	w.AgentTable = held{w.Table, func(_ context.Context, item store.Item) error {
		if item.Key.Sort == store.KindHeartbeat && on.Load() {
			return store.ErrUnavailable
		}
		return nil
	}}
	return on
}

// S07 S33 S63: a claimed instance that is online but whose heartbeat has gone stale is not handed over; once it reports again
// it is, with the run it had and the run's time from then on.
func TestHandOver_HealthyAndOnline_RunningThreshold_S07(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		mute := w.faint()
		w.Configure(func(c *reconciler.Config) { c.Limits.ClaimGate = time.Minute })
		defer w.controller("c1", nil)()
		id := w.warm("100", 1).Instances[0].InstanceID
		w.Hub.SetLatency(githubsim.Latency{Session: 20 * time.Second}) // longer than a heartbeat stays fresh
		w.submit(spec("200", 1, lasting(17*time.Minute)))
		w.await(5*time.Second, "claimed", func() bool { return w.instance(id).State == statemachine.Claimed })
		claimed := w.instance(id)
		mute.Store(true)
		time.Sleep(25 * time.Second)
		if got := w.vitals(id).Signal.Value; got.Signal != store.RegOK || got.RunID != "200" {
			t.Fatalf("the agent says %+v, want its listener online", got)
		}
		if in := w.instance(id); in.State != statemachine.Claimed {
			t.Fatalf("%s is %s with a heartbeat of 25 s ago, want it claimed", id, in.State)
		}
		mute.Store(false)
		reported := w.Clock.Now()
		w.awaitPhase("200", 1, statemachine.Ready, 20*time.Second)
		in := w.instance(id)
		if in.State != statemachine.Running || in.RunID != "200" || in.Assignment != claimed.Assignment || in.ChangedAt.Time.Before(reported) {
			t.Errorf("%s is %s of %q, assignment %d, %s after its agent reported; want it running for 200, assignment %d",
				id, in.State, in.RunID, in.Assignment, in.ChangedAt.Sub(reported), claimed.Assignment)
		}
		if left := in.Threshold.Sub(in.ChangedAt.Time); left != 17*time.Minute {
			t.Errorf("its threshold is in %s, want the run's 17m", left)
		}
	})
}

// S44: an idle instance whose heartbeat is stale is no candidate, long before it is given up; once it reports again, it is one.
func TestStaleIdle_IsNoCandidate_S44(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		mute := w.faint()
		defer w.controller("c1", nil)()
		id := w.warm("100", 1).Instances[0].InstanceID
		mute.Store(true)
		time.Sleep(w.Config().Limits.Window() + w.Config().WarmPoll + time.Second)
		w.AgentTable = nil
		if s := w.serve(spec("200", 1), time.Minute).Instances[0]; s.Warm || w.Owners(id) != 1 {
			t.Errorf("run 200 got %+v, and %s had %d owners; want a new one and %s left alone", s, id, w.Owners(id), id)
		}
		mute.Store(false)
		time.Sleep(w.Config().WarmPoll + w.Config().Limits.Beat)
		if in := w.instance(id); in.State != statemachine.Idle || in.PooledAt.IsZero() {
			t.Fatalf("%s is %s for %q, want it pooled still", id, in.State, in.Reason)
		}
		if st := w.serve(spec("300", 1), time.Minute); !ids(st)[id] || w.Fleet.Launched() != 2 {
			t.Errorf("run 300 got %v of %d machines, want %s", ids(st), w.Fleet.Launched(), id)
		}
	})
}

// S36: a machine that missed two reports is as good as any other: it is claimed.
func TestTwoMissedReports_FailNobody_S36(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		mute := w.faint()
		w.Configure(func(c *reconciler.Config) { c.WarmPoll = time.Second }) // what is known of it is never older
		defer w.controller("c1", nil)()
		id := w.warm("100", 1).Instances[0].InstanceID
		reported := w.vitals(id).Heartbeat.UpdatedAt.Time
		w.await(10*time.Second, "a report", func() bool { return w.vitals(id).Heartbeat.UpdatedAt.After(reported) })
		mute.Store(true)
		time.Sleep(w.Config().Limits.Window() - time.Second)
		mute.Store(false)
		if st := w.serve(spec("200", 1), time.Minute); !ids(st)[id] || w.Fleet.Launched() != 1 {
			t.Errorf("run 200 got %v of %d machines, want %s", ids(st), w.Fleet.Launched(), id)
		}
	})
}

// vitals reads what the agent of an instance wrote last.
func (w *world) vitals(id store.InstanceID) store.Vitals {
	w.t.Helper()
	p := w.instance(id).Principal
	got, err := w.Store.Vitals(w.t.Context(), func(k store.Key, err error) { w.t.Errorf("vitals %v: %v", k, err) }, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[p]
}

// A lost seat of a Ready request is refilled.
func TestRunningMachineLost_SeatRefilled(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 2), time.Minute)
		victim := st.Instances[0].InstanceID
		w.Crash(victim)
		w.await(3*time.Minute, "refilled", func() bool {
			now := w.status("100")
			return !ids(now)[victim] && len(ids(now)) == 2 && now.Phase == statemachine.Ready
		})
	})
}

// breakingScript succeeds so many times.
type breakingScript struct{ successes *atomic.Int64 }

func (s breakingScript) Run(ctx context.Context) error {
	if s.successes.Add(-1) >= 0 {
		return nil
	}
	return failingScript{"100"}.Run(ctx)
}

// H33: a request that was served once and whose lost seat cannot be filled stays Ready, and says why.
func TestSeatThatStaysEmpty_SaysWhy(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		healthy := new(atomic.Int64)
		healthy.Store(2)
		w.Script = breakingScript{healthy}
		w.Waive(statemachine.ReasonScript)
		defer w.controller("c1", nil)()
		st := w.serve(spec("100", 2), time.Minute)
		w.Crash(st.Instances[0].InstanceID)
		w.await(9*time.Minute, "the status says why", func() bool { return strings.Contains(w.status("100").Message, "frobnicate") })
		if st := w.status("100"); st.Phase != statemachine.Ready {
			t.Errorf("request is %s, want it to keep its other machine", st.Phase)
		}
		w.launched(5)
		w.release("100", 1, store.ReleaseDrain)
		if st := w.awaitPhase("100", 1, statemachine.PhaseReleased, time.Minute); st.Message != "" {
			t.Errorf("message after the release = %q, want none", st.Message)
		}
		w.checkDrained(10 * time.Minute)
	})
}

// H33 H50: a listener that GitHub keeps from its messages after its machine was handed over is told of while that lasts, and no longer.
func TestRunningSeatOffline_SaysWhy_H50(t *testing.T) {
	takesLong(t)
	for _, d := range []disruption{
		{name: store.CauseDeprecated},
		{name: store.CauseUnavailable, service: githubsim.OAuth, trouble: githubsim.Answer503},
	} {
		t.Run(d.name, storyLed(func(t *testing.T, w *world) {
			w.serve(spec("100", 2), time.Minute)
			w.jobs("100", 1, 20) // after which a listener begins
			w.await(10*time.Second, "a job runs", func() bool { return w.jobsIn(githubsim.Running) == 1 })
			d.begin(w)
			w.await(5*time.Minute, "the status says why", func() bool { return strings.Contains(w.status("100").Message, d.name) })
			if st := w.status("100"); st.Phase != statemachine.Ready || w.in(statemachine.Running) != 2 {
				t.Errorf("request is %s with %d running, want Ready and both", st.Phase, w.in(statemachine.Running))
			}
			d.end(w)
			w.await(time.Minute, "nothing is told any more", func() bool { return w.status("100").Message == "" })
			w.checkNoneEnded()
			w.release("100", 1, store.ReleaseDrain)
			w.checkDrained(10 * time.Minute)
		}))
	}
}

// H36: a request that is given back while a launch, for it and for another one, is being written is Released once nothing is on
// its way any more.
func TestLostSeat_ReleasedWhileItsLaunchIsWritten_H36(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var slow, writing atomic.Bool
		defer w.controller("c1", held{w.Table, func(_ context.Context, item store.Item) error {
			if item.Key.Sort == store.KindLaunch && item.Version == 1 && slow.Load() {
				writing.Store(true)
				time.Sleep(300 * time.Millisecond)
			}
			return nil
		}})()
		for _, id := range []string{"100", "200"} {
			w.serve(spec(id, 1), time.Minute)
		}
		slow.Store(true)
		for id := range w.Instances() {
			w.Crash(id)
		}
		w.await(2*time.Minute, "a launch is written", writing.Load)
		w.give("100", 1, store.ReleaseNow, time.Minute)
		released := time.Now()
		w.await(time.Minute, "200 is served again", func() bool { return w.in(statemachine.Running) == 1 })
		for id, in := range w.Instances() {
			if in.CreatedAt.After(released) && w.status("200").Instances[0].InstanceID != id {
				t.Errorf("%s came %s after the request was Released, for nobody else", id, in.CreatedAt.Sub(released))
			}
		}
	})
}
