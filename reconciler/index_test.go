package reconciler_test

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// neverTaken has a queue that never takes a message.
func neverTaken(ctx context.Context, clk clock.WithTicker) (store.Table, pool.Pool, error) {
	table, p, err := inMemory(ctx, clk)
	return table, brokenPool{p}, err
}

// S44 S45 S50: a controller that begins after another was killed with candidates in its hands finds every one of them in
// the records, as it is: the queue was empty all along.
func TestIndex_AfterAKillWithAnEmptyQueue_S44_S45_S50(t *testing.T) {
	runOn(t, neverTaken, func(t *testing.T, w *world) {
		var armed, died atomic.Bool
		w.Gated("doomed", func(_ sim.Gated, c sim.Call) sim.Kind {
			if !armed.Load() || !strings.HasPrefix(c.Detail, "Instance") || !c.Effect() {
				return ""
			}
			died.Store(true)
			return sim.CrashBefore // also of the other claim, which is written beside this one
		})
		small := ids(w.warm("100", 2))
		large := ids(w.warm("101", 1, ofClass("large")))
		armed.Store(true)
		w.submit(spec("200", 2))
		w.await(time.Minute, "death", died.Load)
		if n := w.pooled(); n != 3 {
			t.Fatalf("%d machines are pooled, want 3: the claim was not to be written", n)
		}

		op, _ := w.operator("heir", reconciler.Options{})
		if got := ids(w.awaitPhase("200", 1, statemachine.Ready, time.Minute)); !maps.Equal(got, small) {
			t.Errorf("run 200 got %v, want %v", got, small)
		}
		if got := op.Candidates(); !maps.Equal(got, large) {
			t.Errorf("candidates are %v, want %v", got, large)
		}
		if got := ids(w.serve(spec("300", 1, ofClass("large")), time.Minute)); !maps.Equal(got, large) {
			t.Errorf("run 300 got %v, want %v", got, large)
		}
		w.launched(3)
	})
}
