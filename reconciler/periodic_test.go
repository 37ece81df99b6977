package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
)

// H53 H57: a chore that fails and one that hangs keep neither the others nor the requests waiting; each
// is repeated in its own time.
func TestHousekeeping_EachFailsAlone_H53(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var good, bad, hung atomic.Int64
		stop := w.controllerWith("c1", reconciler.Options{Chores: []reconciler.Chore{
			{Name: "bad", Do: func(context.Context) error { bad.Add(1); return errors.New("no permission") }},
			{Name: "hung", Do: func(ctx context.Context) error { hung.Add(1); <-ctx.Done(); return context.Cause(ctx) }},
			{Name: "good", Do: func(context.Context) error { good.Add(1); return nil }},
		}})
		defer stop()
		w.serve(spec("100", 2), time.Minute)
		time.Sleep(11 * time.Minute)
		if n := good.Load(); n != 3 {
			t.Errorf("the good one was done %d times in 11 minutes, want 3: at once and every 5 minutes", n)
		}
		if bad.Load() < 5 || hung.Load() < 3 {
			t.Errorf("the bad one was tried %d times, the hung one %d times, want at least 5 and 3", bad.Load(), hung.Load())
		}
	})
}

func TestNew_ChoresNeedNames(t *testing.T) {
	cfg := reconciler.Defaults()
	cfg.Holder, cfg.Classes = "c1", map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}}
	for _, chores := range [][]reconciler.Chore{{{}}, {{Name: "a"}, {Name: "a"}}} {
		if _, err := reconciler.New(reconciler.Options{Config: cfg, Chores: chores}); err == nil || !strings.Contains(err.Error(), "one of a kind") {
			t.Errorf("New(%d chores) error = %v, want it to name the chore", len(chores), err)
		}
	}
}
