package reconciler_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S10: whenever an instance becomes running a runner of its registration, with the run's label and no other, is
// online at GitHub: cold or warm, in either mode, however long a listener takes to come online.
func TestHandover_RunnerIsOnlineUnderTheLabel_S10(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Config.Registration = mode
				w.Hub.SetLatency(githubsim.Latency{Session: 3 * time.Second})
				given := map[store.InstanceID]int64{} // the assignment in which it was
				table := &refusing{Table: w.Table, seen: func(item store.Item) {
					var in store.Instance
					if item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil &&
						in.State == statemachine.Running && given[in.ID] != in.Assignment {
						given[in.ID] = in.Assignment
						w.checkOnline(in)
					}
				}}
				defer w.controller("c1", table)()
				for _, id := range []string{"100", "200"} {
					w.submit(spec(id, 2))
					w.awaitPhase(id, 1, statemachine.Ready, 2*time.Minute)
					w.release(id, 1, store.Drain)
					w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
				}
				table.mu.Lock()
				defer table.mu.Unlock()
				if len(given) != 2 || w.Fleet.Launched() != 2 {
					t.Errorf("%d of %d machines were handed over, want the same 2 twice", len(given), w.Fleet.Launched())
				}
			})
		})
	}
}

// ending is a table on which the first instance that becomes running ends just before: somebody else wrote so.
type ending struct {
	store.Table
	w     *world
	ended atomic.Pointer[store.InstanceID]
}

func (e *ending) Put(ctx context.Context, item store.Item, expect int64) error {
	switch {
	case item.Key.Sort == store.KindInstance && e.ended.Load() == nil:
		var in store.Instance
		if err := json.Unmarshal(item.Attributes, &in); err != nil || in.State != statemachine.Running || !e.ended.CompareAndSwap(nil, &in.ID) {
			break
		}
		e.w.Crash(in.ID)
		lost := store.Transition{Event: statemachine.Lost, Now: e.w.Clock.Now(), Reason: statemachine.ReasonGone}
		if _, err := e.w.Store.Transition(ctx, e.w.instance(in.ID), lost); err != nil {
			e.w.t.Errorf("end %s: %v", in.ID, err)
		}
	case item.Key.Sort == store.KindRunStatus:
		var st store.RunStatus
		if json.Unmarshal(item.Attributes, &st) == nil && st.Phase == statemachine.Ready {
			e.w.checkRuns(st)
		}
	}
	return e.Table.Put(ctx, item, expect)
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
		table := &ending{Table: w.Table, w: w}
		defer w.controller("c1", table)()
		w.submit(spec("100", 3))
		st := w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute)
		lost := table.ended.Load()
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
