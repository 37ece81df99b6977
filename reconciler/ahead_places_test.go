package reconciler_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A job that waits in its hook for an agent that cannot read its record for longer than the gate keeps its instance: the heartbeat
// says that a job runs under the present registration.
func TestAhead_JobWaitsForABlindAgent_Review_C8(t *testing.T) {
	for name, after := range map[string]time.Duration{"Blind": time.Hour, "SilentOnceBusy": 2 * time.Second, "SilentBefore": 0} {
		t.Run(name, func(t *testing.T) {
			listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
				on, silent := &atomic.Bool{}, &atomic.Bool{}
				w.AgentTable = held{blinding{w.Table, on}, func(context.Context, store.Item) error {
					if silent.Load() {
						return store.ErrUnavailable
					}
					return nil
				}}
				w.controller("c1", nil)
				pooled := w.ahead(1, 10)
				job := w.jobs("200", 1, 5)
				on.Store(true)
				silent.Store(after == 0)
				w.serve(spec("200", 1), 5*time.Second)
				time.Sleep(min(after, w.Config().Limits.ClaimGate))
				silent.Store(after < time.Hour)
				asked := w.Hub.Calls()[githubsim.CallList]
				time.Sleep(w.Config().Limits.ClaimGate + 25*time.Second)
				if n := w.Hub.Calls()[githubsim.CallList] - asked; after == time.Hour && n > 0 {
					t.Errorf("GitHub was asked %d times whether a job runs that a heartbeat reports", n)
				}
				for id := range pooled {
					if in := w.instance(id); in.State != statemachine.Running {
						t.Fatalf("%s is %s (%s), want running: its job waits", id, in.State, in.Reason)
					}
				}
				on.Store(false)
				silent.Store(false)
				w.awaitJobs(job, 30*time.Second)
				w.checkNoneEnded()
				w.launched(1)
			})
		})
	}
}

// earlier is the store as an agent of a version before listeners ahead knows it: it ignores a registration without a run.
type earlier struct{ store.Table }

func (e earlier) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := e.Table.Get(ctx, c, keys...)
	for i, item := range items {
		in, is := instanceIn(item)
		if !is || in.RunID != "" {
			continue
		}
		in.Registration = store.Registration{}
		if items[i].Attributes, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	return items, err
}

// An agent that never listens keeps no place from one that does.
func TestAhead_AnEarlierAgentKeepsNoPlace_Review_S4(t *testing.T) {
	listening(t, 1, sim.Script{}, func(_ *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Limits.Idle = time.Hour })
		w.controller("c1", nil)
		w.AgentTable = earlier{w.Table}
		w.warm("100", 1)
		w.await(30*time.Second, "it has the place", func() bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(w.Instances())), func(in store.Instance) bool { return in.Ahead() })
		})
		w.AgentTable = nil
		w.serve(spec("200", 1, ofClass("large")), time.Minute)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(5*time.Minute, "the other one listens", func() bool { return len(w.listeners()) == 1 })
	})
}

// The place of an instance whose record is gone, and its machine with it, is the next one's.
func TestAhead_APlaceOutlivesNoRecord_Review_S3(t *testing.T) {
	listening(t, 1, sim.Script{}, func(t *testing.T, w *world) {
		w.Waive(sim.Known, sim.HealthyLives, sim.Needed)
		w.Configure(func(c *reconciler.Config) { c.Limits.Idle = time.Hour })
		w.controller("c1", nil)
		w.ahead(2, 1)
		first := w.listeners()[0].Name
		in := w.instance(store.InstanceID(githubsim.InstanceOf(first)))
		items, err := w.Under.Get(t.Context(), store.Consistent, store.InstanceKey(in.Principal, store.KindInstance))
		w.must(err)
		items[0].ExpiresAt = w.Clock.Now().Add(time.Second).Truncate(time.Second)
		items[0].Version++
		w.must(w.Under.Put(t.Context(), items[0], in.Version))
		w.await(20*time.Minute, "the other one listens", func() bool { return len(w.listeners()) == 1 && w.listeners()[0].Name != first })
	})
}
