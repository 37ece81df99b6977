package reconciler_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A lost seat of a Ready request is refilled.
func TestRunningMachineLost_SeatRefilled(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		victim := st.Instances[0].InstanceID
		w.crash(victim)
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
		w.script = breakingScript{healthy}
		w.audit.excuse(statemachine.ReasonScript)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.crash(st.Instances[0].InstanceID)
		w.await(9*time.Minute, "the status says why", func() bool { return strings.Contains(w.status("100").Message, "frobnicate") })
		if st := w.status("100"); st.Phase != statemachine.Ready {
			t.Errorf("request is %s, want it to keep its other machine", st.Phase)
		}
		if n := w.fleet.Launched(); n != 5 {
			t.Errorf("launched %d machines for 2 seats, want 5", n)
		}
		w.release("100", 1, store.Drain)
		if st := w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute); st.Message != "" {
			t.Errorf("message after the release = %q, want none", st.Message)
		}
		w.checkDrained(10 * time.Minute)
	})
}
