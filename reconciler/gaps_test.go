package reconciler_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
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

// heldWrite is a table on which one write of an instance takes its time.
type heldWrite struct {
	store.Table
	clock clock.Clock
	match func(store.Instance) bool
	lasts time.Duration
	held  atomic.Bool
}

func (h *heldWrite) Put(ctx context.Context, item store.Item, expect int64) error {
	var in store.Instance
	if item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil && h.match(in) && h.held.CompareAndSwap(false, true) {
		h.clock.Sleep(h.lasts)
	}
	return h.Table.Put(ctx, item, expect)
}

// S27: the threshold of an idle instance passes, and its end is decided, while the write that claims it is under way.
// It was claimed in time, so it lives and serves its run.
func TestThresholdPasses_DuringTheClaim_S27(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &heldWrite{
			Table: w.Table, clock: w.Clock, lasts: 5 * time.Second,
			match: func(in store.Instance) bool { return in.State == statemachine.Claimed },
		}
		defer w.controller("c1", table)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
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
		w.Config.Limits.CreateGate, w.Config.Limits.Created = 10*time.Minute, 11*time.Minute
		table := &heldWrite{
			Table: w.Table, clock: w.Clock, lasts: w.Config.Limits.Claimed/2 + 20*time.Second,
			match: func(in store.Instance) bool {
				return in.State == statemachine.Claimed && in.Threshold.Sub(in.Since.Time) > w.Config.Limits.Claimed
			},
		}
		defer w.controller("c1", table)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Boot = 8 * time.Minute // of the second one
		r := spec("200", 2)
		r.Timeout = store.SecondsOf(15 * time.Minute)
		w.submit(r)
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

// S29: the sweep comes at its period, with no request and no operator: a machine that ended behind the
// system's back is noticed within it.
func TestSweep_ComesAtItsPeriod_S29(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		st := w.warm("100", 1, nil)
		before := w.Fleet.Calls(fleettest.CallList)
		time.Sleep(2 * time.Minute)
		if n := w.Fleet.Calls(fleettest.CallList) - before; n < 4 {
			t.Errorf("%d listings in two minutes, want one in %s", n, w.Config.Sweep)
		}
		w.Crash(st.Instances[0].InstanceID)
		w.await(w.Config.Sweep+time.Second, "noticed", func() bool { return w.in(statemachine.Terminated) == 1 })
	})
}

// S65: handed over if and only if both gates pass: a fresh heartbeat and the registration. The answer
// carries id and details.
func TestGates_Both_S65(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.warm("100", 1, nil)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}})
		w.submit(spec("200", 1)) // its machine beats, but its listener does not come online
		time.Sleep(5 * time.Second)
		if st := w.status("200"); st.Phase != statemachine.Pending || w.in(statemachine.Running) != 0 {
			t.Fatalf("%s with %d running before the listener was online", st.Phase, w.in(statemachine.Running))
		}
		w.Hub.SetOutage(githubsim.Outage{})
		st := w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
		if s := st.Instances[0]; s.InstanceID == "" || s.InstanceType == "" || s.UsageClass == "" {
			t.Errorf("handed over %+v, want id and details", s)
		}
		w.Waive(statemachine.ReasonGate) // the one that hung was given up
	})
}

// H09: a termination that fails is no success: it is tried again until the fleet confirms, and only then
// may the record go.
func TestTerminate_RefusedForAWhile_H09(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		st := w.warm("100", 1, nil)
		id := st.Instances[0].InstanceID
		w.Fleet.RefuseTerminate(string(id), errors.New("not now"))
		if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: "one", InstanceID: id, CreatedAt: store.At(w.Clock.Now())}); err != nil {
			t.Fatal(err)
		}
		w.await(time.Minute, "marked", func() bool { return w.instance(id).State == statemachine.Terminated })
		w.Hang(id) // its agent does not help
		time.Sleep(time.Minute)
		if in := w.instance(id); !in.ExpiresAt.IsZero() {
			t.Errorf("the record of %s may go although the machine lives", id)
		}
		w.Fleet.RefuseTerminate(string(id), nil)
		w.await(time.Minute, "confirmed", func() bool { return !w.instance(id).ExpiresAt.IsZero() })
	})
}

// stuckHub is a GitHub at which one runner cannot be deleted.
type stuckHub struct {
	reconciler.GitHub
	runner atomic.Int64
	stuck  func(context.Context) error
}

func (h *stuckHub) DeleteRunner(ctx context.Context, id int64) error {
	if id == h.runner.Load() {
		return h.stuck(ctx)
	}
	time.Sleep(time.Second) // so that what befalls the one comes before the others are done
	return h.GitHub.DeleteRunner(ctx, id)
}

// H19: one instance that cannot be given back keeps no other from it: neither one whose job runs on, as the controller
// has known for long, nor one whose runner GitHub does not delete.
func TestRelease_OneCannotGoBack_TheOthersDo_H19(t *testing.T) {
	for name, stuck := range map[string]func(context.Context) error{
		"ItsJobRuns":    nil,
		"GitHubRefuses": func(context.Context) error { return errors.New("502 Bad Gateway") },
		"GitHubHangs":   func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				hub := &stuckHub{GitHub: w.Hub, stuck: stuck}
				defer w.controllerWith("c1", reconciler.Options{GitHub: hub})()
				w.submit(spec("100", 3))
				st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				kept := slices.Min(slices.Collect(maps.Keys(ids(st)))) // the first in their order
				if stuck == nil {
					job := w.jobs("100", 1, 600)
					w.await(time.Minute, "one is busy", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
					j, _ := w.Hub.Job(job[0])
					kept = store.InstanceID(j.InstanceID)
					time.Sleep(20 * time.Second) // its heartbeat says so
				} else {
					hub.runner.Store(w.instance(kept).Registration.RunnerID)
				}
				w.release("100", 1, store.Drain)
				w.await(10*time.Second, "the other two pooled", func() bool { return w.pooled() == 2 })
				if in := w.instance(kept); in.State != statemachine.Running {
					t.Errorf("%s is %s, want it still to go back", kept, in.State)
				}
				for _, j := range w.Hub.Jobs() {
					if j.State != githubsim.Running {
						t.Errorf("the job is %s", j.State)
					}
				}
			})
		})
	}
}

// H26: an instance that was given up and registers late for its old run takes no job: its runner is
// deleted at GitHub before the machine is, and none is killed with a job on it.
func TestGivenUp_RegistersLate_H26(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.warm("100", 1, nil)
		w.Hub.SetLatency(githubsim.Latency{Session: 12 * time.Second}) // later than the gate of 10 s
		w.Waive(statemachine.ReasonGate)
		w.submit(spec("200", 1))
		w.jobs("200", 1, 30)
		time.Sleep(15 * time.Second)
		w.Hub.SetLatency(githubsim.Latency{})
		w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
		time.Sleep(time.Minute)
	})
}

// H28: what is ready waits for a slow sibling longer than the claimed limit, and is not lost for it.
func TestRenewal_WaitsForASlowSibling_H28(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Limits.CreateGate, w.Config.Limits.Created = 10*time.Minute, 11*time.Minute
		defer w.controller("c1", nil)()
		st := w.warm("100", 1, nil)
		w.Boot = 8 * time.Minute // of the second one
		r := spec("200", 2)
		r.Timeout = store.SecondsOf(15 * time.Minute)
		w.submit(r)
		got := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Minute)
		if id := st.Instances[0].InstanceID; !ids(got)[id] {
			t.Errorf("run 200 got %v without the warm %s", ids(got), id)
		}
		if n := w.Fleet.Launched(); n != 2 {
			t.Errorf("launched %d, want 2", n)
		}
	})
}

// S48: a machine that was told it will be taken away takes no new run and goes, if nobody owns it.
func TestInterrupted_TakesNoNewRun_S48(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Interrupt(id)
		w.await(time.Minute, "dismissed", func() bool { return w.instance(id).State == statemachine.Terminated })
		w.submit(spec("200", 1))
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); ids(st)[id] {
			t.Errorf("run 200 was given %s, which is being taken away", id)
		}
		if n := w.Owners(id); n != 1 {
			t.Errorf("%d runs owned %s, want 1", n, id)
		}
	})
}
