package reconciler_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// tally counts what a recorder is told, by what it is about.
type tally struct {
	mu   sync.Mutex
	told map[string]int
}

func (t *tally) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told == nil {
		t.told = map[string]int{}
	}
	t.told[fmt.Sprintf(format, args...)]++
}

// take returns what was told since it was last called.
func (t *tally) take() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.told = nil }()
	return maps.Clone(t.told)
}

func (t *tally) Transitioned(was, is store.Instance, event statemachine.Event) {
	t.add("%s %s > %s", is.ResourceClass, was.State, event)
	if next, err := statemachine.Next(was.State, event); err != nil || next != is.State {
		t.add("no row: %s %s %s", was.State, event, is.State)
	}
}

func (t *tally) Answered(class string, st store.RunStatus) {
	t.add("%s %s %d %s", class, st.Phase, len(st.Instances), st.Reason)
}

func (t *tally) Launched(l store.Launch, came int, refused []fleet.Refusal) {
	t.add("launched %d of %d", came, l.Count)
	for _, r := range refused {
		t.add("refused %s %s", r.Code, r.Slot.Zone)
	}
}

func (t *tally) Phase(class string, phase timeline.Name, took time.Duration) {
	t.add("%s %s", class, phase)
	if took < 0 {
		t.add("%s took %s", phase, took)
	}
}

func (t *tally) Orphaned(kind string) { t.add("orphan %s", kind) }

// What happens is told once each: a cold start, the return, a warm start, a request that cannot be served, machines that
// do not come, and one that nobody launched.
func TestRecorder_IsTold(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		told := &tally{}
		w.Configure(func(c *reconciler.Config) { c.LaunchRetry = 0 })
		defer w.controllerWith("c1", reconciler.Options{Telemetry: reconciler.Telemetry{Recorder: told}})()
		check := func(what string, want map[string]int) {
			t.Helper()
			if diff := cmp.Diff(want, told.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		w.serve(spec("100", 2), time.Minute)
		check("cold start", map[string]int{
			"launched 2 of 2": 1, "small  > launched": 2, "small created > handed over": 2, "small Ready 2 ": 1,
			"small accepted": 2, "small launch": 2, "small boot": 2, "small script": 2, "small registration": 2, "small hand-over": 2,
		})
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		check("return", map[string]int{"small running > released": 2, "small idle > pooled": 2})
		w.serve(spec("200", 1), time.Minute)
		check("warm start", map[string]int{
			"small idle > claimed": 1, "small claimed > handed over": 1, "small Ready 1 ": 1,
			"small claimed": 1, "small registration": 1, "small hand-over": 1,
		})
		w.submit(spec("300", 1, ofClass("mistyped")))
		w.awaitPhase("300", 1, statemachine.Failed, time.Minute)
		check("no such class", map[string]int{"mistyped Failed 0 " + reconciler.ReasonSpec: 1})
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.submit(spec("400", 1, ofClass("large")))
		w.awaitPhase("400", 1, statemachine.Failed, time.Minute)
		check("no capacity", map[string]int{
			"launched 0 of 1": 1, "refused InstanceLimitExceeded ": 1, "large Failed 0 " + reconciler.ReasonCapacity: 1,
		})
		w.Fleet.Add(fleet.Machine{Principal: "i-stray", ResourceClass: "small", LaunchToken: "l-gone", LaunchedAt: w.Clock.Now()})
		w.await(w.Config().Orphan+2*w.Config().Sweep, "the stray ends", func() bool { return len(w.Fleet.Alive()) == 2 })
		told.mu.Lock()
		defer told.mu.Unlock()
		if told.told["orphan machine"] != 1 {
			t.Errorf("told %v, want of the orphan once", told.told)
		}
	})
}

// A refused call is told of with the fleet's own code.
func TestRecorder_IsToldOfARefusedCall(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		told := &tally{}
		w.controllerWith("c1", reconciler.Options{Fleet: &forbidden{Fleet: w.Fleet, until: 1}, Telemetry: reconciler.Telemetry{Recorder: told}})
		w.serve(spec("100", 1), time.Minute)
		if got := told.take(); got["refused refused "] != 1 || got["launched 0 of 1"] != 1 || got["launched 1 of 1"] != 1 {
			t.Errorf("told %v, want of one refusal and one launch", got)
		}
		w.release("100", 1, store.ReleaseDrain)
	})
}

// The summary shows what the leader knows, and nothing of what another leads.
func TestSummary(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		op, stop := w.operator("c1", reconciler.Options{})
		standby, _ := w.operator("c2", reconciler.Options{})
		w.serve(spec("100", 2), time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		w.serve(spec("200", 1), time.Minute)
		w.submit(spec("300", 2))
		w.awaitPhase("300", 1, statemachine.Pending, time.Minute)
		time.Sleep(w.Config().Sweep)
		got, known := op.Summary()
		now := w.Clock.Now()
		if !known || got.Term != 1 || got.Silence || got.Unlisted || now.Sub(got.Scanned) > w.Config().Scan || now.Sub(got.Swept) > w.Config().Sweep {
			t.Errorf("summary %+v, %t at %s", got, known, now)
		}
		kind := func(s statemachine.State) reconciler.InstanceKind {
			return reconciler.InstanceKind{State: s, Class: "small", Usage: store.Spot}
		}
		if diff := cmp.Diff(map[reconciler.InstanceKind]int{kind(statemachine.Running): 1, kind(statemachine.Claimed): 1}, got.Instances); diff != "" {
			t.Errorf("instances (-want +got):\n%s", diff)
		}
		if wait := got.Waiting[reconciler.WaitKind{Class: "small", Reason: reconciler.ReasonCap}]; len(got.Waiting) != 1 || wait.Count != 1 || wait.Oldest < w.Config().Sweep || wait.Oldest > time.Minute {
			t.Errorf("waiting = %v, want one for %s", got.Waiting, w.Config().Sweep)
		}
		agents := 0
		for _, n := range got.Agents {
			agents += n
		}
		if agents != 2 {
			t.Errorf("agents = %v, want 2", got.Agents)
		}
		w.release("300", 1, store.ReleaseDrain)
		w.await(time.Minute, "a candidate", func() bool {
			got, _ := op.Summary()
			return got.Candidates[pool.Kind{ResourceClass: "small", UsageClass: store.Spot}] == 1
		})
		if got, known := standby.Summary(); known || got.Term != 0 {
			t.Errorf("of who waits: %+v, %t", got, known)
		}
		stop()
		if got, known := op.Summary(); known || got.Term != 0 {
			t.Errorf("of who stopped: %+v, %t", got, known)
		}
		w.release("200", 1, store.ReleaseDrain)
	})
}
