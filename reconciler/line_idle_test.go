package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// lyingIdle is how long something that a waiting request can use may lie idle: a few writes, and no poll of
// anything.
const lyingIdle = 3 * time.Second

// S60 S69: while requests of one, two and three seats and of types that overlap wait for a few machines, no pooled machine
// lies idle that one of them can use, and no room under the cap, although none of them looks by itself.
func TestLine_NothingLiesIdle_S60_S69(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				r := rand.New(rand.NewPCG(seed, 1))
				w.Config.MaxInstances, w.Config.Scan, w.Boot = 5, 24*time.Hour, 5*time.Second
				w.Config.Limits.Idle = 40 * time.Second // machines that fit nobody end, and others take their place
				w.controller("c1", nil)
				asked := map[string]store.RunRequest{}
				for i := range 40 {
					req := spec(lineID(i), 1+r.IntN(3))
					req.Timeout = store.SecondsOf(5 * time.Hour)
					req.AllowedInstanceTypes = [][]string{{"*"}, {"c6i.*"}, {"m5.*"}, {"c6i.*", "m5.*"}}[r.IntN(4)]
					asked[lineID(i)] = req
					w.submit(req)
				}
				w.watchLine(r, asked)
			})
		})
	}
}

// watchLine gives each request back some time after it is Ready, until all were served, and looks for what lies idle.
func (w *world) watchLine(r *rand.Rand, asked map[string]store.RunRequest) {
	w.t.Helper()
	ends, idle, roomy := map[string]time.Time{}, map[store.InstanceID]time.Duration{}, time.Duration(0)
	served := map[string]bool{}
	const step = lyingIdle / 10
	w.awaitEvery(step, 4*time.Hour, "all served", func() bool {
		waiting := w.shortOf(asked, ends, served, r)
		pooled, living := map[store.InstanceID]bool{}, 0
		for id, in := range w.Instances() {
			if in.State != statemachine.Terminated {
				living++
			}
			usable := in.State == statemachine.Idle && !in.PooledAt.IsZero() && slices.ContainsFunc(waiting, func(req store.RunRequest) bool {
				return glob.Any(req.AllowedInstanceTypes, in.InstanceType)
			})
			if !usable {
				continue
			}
			pooled[id] = true
			if idle[id] += step; idle[id] == lyingIdle {
				w.dump()
				w.t.Errorf("%s: %s is pooled for %s while %d wait that can use it", w.Clock.Now().Format(time.TimeOnly), id, lyingIdle, len(waiting))
			}
		}
		for id := range idle {
			if !pooled[id] {
				delete(idle, id)
			}
		}
		if len(waiting) == 0 || living >= w.Config.MaxInstances || len(pooled) > 0 {
			roomy = 0
		} else if roomy += step; roomy == 2*lyingIdle {
			w.dump()
			w.t.Errorf("%s: %d of %d machines for %s while %d wait", w.Clock.Now().Format(time.TimeOnly), living, w.Config.MaxInstances, roomy, len(waiting))
		}
		return len(served) == len(asked)
	})
}

// shortOf lists the requests that are Pending and own less than they need, and gives back those whose time is up.
func (w *world) shortOf(asked map[string]store.RunRequest, ends map[string]time.Time, served map[string]bool, r *rand.Rand) []store.RunRequest {
	held := map[string]int{}
	for _, in := range w.Instances() {
		if in.State.Owned() {
			held[string(in.RunID)]++
		}
	}
	var out []store.RunRequest
	for i := range len(asked) {
		id := lineID(i)
		if served[id] {
			continue
		}
		switch w.status(id).Phase {
		case statemachine.Pending:
			if held[id] < asked[id].Count {
				out = append(out, asked[id])
			}
		case statemachine.Ready:
			if ends[id].IsZero() {
				ends[id] = w.Clock.Now().Add(time.Duration(r.IntN(20000)) * time.Millisecond)
			}
			if w.Clock.Now().After(ends[id]) {
				w.release(id, 1, store.Drain)
				served[id] = true
			}
		case statemachine.Failed:
			w.t.Errorf("%s failed: %s", id, w.status(id).Message)
			served[id] = true
		case statemachine.Unseen, statemachine.ReleasedPhase:
		}
	}
	return out
}
