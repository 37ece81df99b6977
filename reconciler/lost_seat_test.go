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
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.Crash(st.Instances[0].InstanceID)
		w.await(9*time.Minute, "the status says why", func() bool { return strings.Contains(w.status("100").Message, "frobnicate") })
		if st := w.status("100"); st.Phase != statemachine.Ready {
			t.Errorf("request is %s, want it to keep its other machine", st.Phase)
		}
		if n := w.Fleet.Launched(); n != 5 {
			t.Errorf("launched %d machines for 2 seats, want 5", n)
		}
		w.release("100", 1, store.Drain)
		if st := w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute); st.Message != "" {
			t.Errorf("message after the release = %q, want none", st.Message)
		}
		w.checkDrained(10 * time.Minute)
	})
}

// slowIntent is a table that takes its time to write launches.
type slowIntent struct {
	store.Table

	takes   time.Duration
	writing atomic.Bool
}

func (s *slowIntent) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key.Sort == store.KindLaunch && expect == 0 && s.takes > 0 {
		s.writing.Store(true)
		time.Sleep(s.takes)
	}
	return s.Table.Put(ctx, item, expect)
}

// H36: a request that is given back while a launch, for it and for another one, is being written is Released once nothing is on
// its way any more.
func TestLostSeat_ReleasedWhileItsLaunchIsWritten_H36(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &slowIntent{Table: w.Table}
		defer w.controller("c1", table)()
		for _, id := range []string{"100", "200"} {
			w.submit(spec(id, 1))
			w.awaitPhase(id, 1, statemachine.Ready, time.Minute)
		}
		table.takes = 300 * time.Millisecond
		for id := range w.Instances() {
			w.Crash(id)
		}
		w.await(2*time.Minute, "a launch is written", table.writing.Load)
		w.release("100", 1, store.Now)
		w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
		released := time.Now()
		w.await(time.Minute, "200 is served again", func() bool { return w.in(statemachine.Running) == 1 })
		for id, in := range w.Instances() {
			if in.CreatedAt.After(released) && w.status("200").Instances[0].InstanceID != id {
				t.Errorf("%s came %s after the request was Released, for nobody else", id, in.CreatedAt.Sub(released))
			}
		}
	})
}
