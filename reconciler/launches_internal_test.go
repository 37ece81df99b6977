package reconciler

import (
	"log/slog"
	"slices"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// wanting is a tenure in which requests, the oldest first, wait for the launch of as many machines.
func wanting(counts ...int) (*launches, []want) {
	cfg := Defaults()
	cfg.MaxInstances = 10_000
	clk := clocktesting.NewFakeClock(dawn)
	pickup := pool.NewPickup(pooltest.NewMemory(clk), clk, slog.New(slog.DiscardHandler))
	tenure, batch := &tenure{cfg: cfg, clock: clk}, newBatch()
	t := &launches{tenure: tenure, cache: newCache(tenure, nil, pickup, newWaiting(pickup.Count, nobody), batch), batch: batch}
	var wants []want
	for i, n := range counts {
		w := inLine(string(rune('a'+i)), i, n, small())
		t.cache.requests.applyRun(w.id, store.RunRecords{
			Request: &store.RunRequest{ID: w.id, Attempt: 1, Count: n, Version: 1},
			Status:  &store.RunStatus{ID: w.id, Attempt: 1, Phase: statemachine.Pending, Version: 1},
		}, dawn)
		t.cache.index.waiting.set(w)
		wants = append(wants, want{id: w.id, attempt: 1, count: n, since: w.since, query: w.query})
	}
	return t, wants
}

// asked returns how many machines each of the wants gets, in order.
func asked(t *launches, wants []want) []int {
	out := make([]int, len(wants))
	for _, got := range t.affordable(wants) {
		out[slices.IndexFunc(wants, func(w want) bool { return w.id == got.id })] = got.count
	}
	return out
}

// One launch asks for a thousand machines at most, for the oldest requests first; a request that gets only a part of what
// it wants, or nothing, wants the rest of the next.
func TestAffordable_AtMostAThousandPerLaunch(t *testing.T) {
	term, wants := wanting(600, 600, 600)
	if got := asked(term, wants); !slices.Equal(got, []int{600, 400, 0}) {
		t.Errorf("launches of %v, want 600, 400 and none", got)
	}
}

// S69: what the pool has by now is not launched: the oldest request that can use it counts with it, and each machine is
// counted once. One that a request passes over (S56) does not count for that request.
func TestAffordable_LaunchesNothingThatThePoolHas_S69(t *testing.T) {
	term, wants := wanting(2, 2)
	check := func(what string, want ...int) {
		t.Helper()
		if got := asked(term, wants); !slices.Equal(got, want) {
			t.Errorf("%s: launches of %v, want %v", what, got, want)
		}
	}
	check("nothing pooled", 2, 2)
	large := machineOf("i-0", "c7g.large")
	large.ResourceClass = "large"
	term.cache.index.pickup.Put(large)
	check("none that fits", 2, 2)
	term.cache.index.pickup.Put(machineOf("i-1", "c7g.large"))
	check("one", 1, 2)
	term.cache.index.pickup.Put(machineOf("i-2", "c7g.large"))
	term.cache.index.pickup.Put(machineOf("i-3", "c7g.large"))
	check("three", 0, 1)
	for range pool.MaxLooks {
		for _, id := range []string{"i-1", "i-2", "i-3"} {
			if c, ok := term.cache.index.pickup.Take(wants[1].query, "b/1", func(c pool.Ticket) bool { return c.InstanceID != id }); !ok || c.InstanceID != id {
				t.Fatalf("b does not get %s", id)
			}
			term.cache.index.pickup.Return(id)
		}
	}
	check("three that the younger passes over", 0, 2)
}
