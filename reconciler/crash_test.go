package reconciler_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// faultAt starts a controller whose n-th call with an effect something happens to, and returns how many such calls there were.
func (w *world) faultAt(n int64, what func(sim.Gated) sim.Kind) (calls *atomic.Int64) {
	w.Configure(func(c *reconciler.Config) { c.Limits.Idle = 2 * time.Minute }) // the end of the story is only a wait for it
	calls = new(atomic.Int64)
	w.Gated("doomed", func(g sim.Gated, c sim.Call) sim.Kind {
		if !c.Effect() || calls.Add(1) != n {
			return ""
		}
		w.t.Logf("%s (call %d)", c, n)
		return what(g)
	})
	synctest.Wait() // it leads
	return calls
}

// H01 H02 H08 H13 H16 H17 H25 H30 S28 S50 S79: a controller that dies at any step of a cold provision, a
// warm one, or a release changes nothing but the time it takes: its successor goes on. Every call
// with an effect is a step, and the death comes before or after the effect.
func TestCrash_AtEveryStep(t *testing.T) {
	takesLong(t)
	var steps int64
	run(t, func(t *testing.T, w *world) {
		calls := w.faultAt(0, nil)
		crashStory(t, w)
		steps = calls.Load()
	})
	if steps < 40 {
		t.Fatalf("the story has %d steps, want at least 40: it is not played to its end", steps)
	}
	for _, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter} {
		t.Run(string(kind), func(t *testing.T) {
			var died atomic.Int64
			t.Run("step", func(t *testing.T) {
				for n := range steps {
					t.Run(fmt.Sprint(n+1), storyBeside(func(t *testing.T, w *world) {
						w.faultAt(n+1, func(sim.Gated) sim.Kind { died.Add(1); return kind })
						crashStory(t, w)
					}))
				}
			})
			// A step more or less is chance: which of two calls comes first.
			if least := steps * 9 / 10; died.Load() < least {
				t.Errorf("only %d of %d stories had a death in them, want at least %d", died.Load(), steps, least)
			}
		})
	}
}

// crashStory tells one story: two cold machines for one run, the same two warm for the next.
func crashStory(t *testing.T, w *world) {
	time.Sleep(10 * time.Millisecond)
	defer w.controller("heir", nil)()

	first := w.serve(spec("100", 2), 3*time.Minute)
	w.awaitJobs(w.jobs("100", 2, 5), time.Minute)
	w.give("100", 1, store.ReleaseDrain, time.Minute)
	w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })

	second := w.serve(spec("200", 2), time.Minute)
	for id := range ids(second) {
		if !ids(first)[id] {
			t.Errorf("run 200 got %s, want warm ones of %v", id, ids(first))
		}
	}
	w.give("200", 1, store.ReleaseDrain, time.Minute)

	w.launched(2)
	w.checkDrained(30 * time.Minute) // a runner whose record was lost is swept on second sight
}

// stallFor is far longer than a lease, and far shorter than the limit of any state.
const stallFor = 30 * time.Second

// H13 H28 S28 S79 invariant 1: a leader that stands still at any step, loses the lease, and wakes up with its
// calls still on their way, as a paused virtual machine does, changes nothing wrong: its successor has long gone on.
func TestStall_AtEveryStep(t *testing.T) {
	takesLong(t)
	for n := range int64(45) {
		t.Run(fmt.Sprint(n), storyBeside(func(t *testing.T, w *world) {
			w.faultAt(n+1, func(g sim.Gated) sim.Kind { g.Pause(stallFor); return "" })
			crashStory(t, w)
		}))
	}
}
