package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S15 S60 S86 H37: twenty runs at once over room for twelve machines. Every job runs on a machine of its
// run, also those that are queued while others of the label are given back; no runner name serves twice;
// and GitHub knows no runner of ours in the end, without the sweep that looks for lost ones.
func TestCrowd_S15_S86_H37(t *testing.T) {
	takesLong(t)
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", mode, seed), story(func(t *testing.T, w *world) {
				r := rand.New(rand.NewPCG(seed, 0))
				w.Configure(func(c *reconciler.Config) { c.Registration, c.MaxInstances, c.Runners = mode, 12, 24*time.Hour })
				w.IdlePoll = time.Second
				w.Hub.SetLatency(githubsim.Latency{
					API:     time.Duration(r.IntN(1000)) * time.Millisecond,
					Session: time.Duration(r.IntN(3000)) * time.Millisecond,
				})
				defer w.controller("c1", nil)()
				w.tellCrowd(r, 20)
				w.launched(12)
				w.checkDrained(20 * time.Minute)
			}))
		}
	}
}

// tellCrowd lets as many runs live side by side to their ends.
func (w *world) tellCrowd(r *rand.Rand, runs int) {
	var group sync.WaitGroup
	for i := range runs {
		id, count := fmt.Sprint(100+i), 1+r.IntN(3)
		late, jobs, first := time.Duration(r.IntN(3000))*time.Millisecond, r.IntN(3*count), r.IntN(5)
		done := w.submit(spec(id, count, within(30*time.Minute)))
		group.Go(func() {
			defer done()
			queued := w.jobs(id, first, 5) // before there is a machine
			w.awaitPhase(id, 1, statemachine.Ready, 30*time.Minute)
			queued = append(queued, w.jobs(id, jobs, 3)...)
			w.awaitJobs(queued, 10*time.Minute)
			time.Sleep(late)
			w.give(id, 1, store.ReleaseDrain, 5*time.Minute)
		})
	}
	group.Wait()
}

// lyingIdle is how long something that a waiting request can use may lie idle: a few writes, and no poll of
// anything.
const lyingIdle = 3 * time.Second

// S60 S69: while requests of one, two and three seats and of types that overlap wait for a few machines, no pooled machine
// lies idle that one of them can use, and no room under the cap, although none of them looks by itself.
func TestLine_NothingLiesIdle_S60_S69(t *testing.T) {
	takesLong(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), story(func(t *testing.T, w *world) {
			r := rand.New(rand.NewPCG(seed, 1))
			w.Boot = 5 * time.Second
			w.Configure(func(c *reconciler.Config) { c.MaxInstances, c.Scan = 5, 24*time.Hour })
			w.Configure(func(c *reconciler.Config) { c.Limits.Idle = 40 * time.Second }) // machines that fit nobody end, and others take their place
			w.controller("c1", nil)
			asked := map[string]store.RunRequest{}
			for i := range 40 {
				req := spec(lineID(i), 1+r.IntN(3), within(5*time.Hour))
				req.AllowedInstanceTypes = [][]string{{"*"}, {"c6i.*"}, {"m5.*"}, {"c6i.*", "m5.*"}}[r.IntN(4)]
				asked[lineID(i)] = req
				w.submit(req)
			}
			w.watchLine(r, asked)
		}))
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
		if len(waiting) == 0 || living >= w.Config().MaxInstances || len(pooled) > 0 {
			roomy = 0
		} else if roomy += step; roomy == 2*lyingIdle {
			w.dump()
			w.t.Errorf("%s: %d of %d machines for %s while %d wait", w.Clock.Now().Format(time.TimeOnly), living, w.Config().MaxInstances, roomy, len(waiting))
		}
		return len(served) == len(asked)
	})
}

// shortOf lists the requests that are Pending and own fewer instances than they need. It releases those whose time is up.
func (w *world) shortOf(asked map[string]store.RunRequest, ends map[string]time.Time, served map[string]bool, r *rand.Rand) []store.RunRequest {
	held := w.held()
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
				w.release(id, 1, store.ReleaseDrain)
				served[id] = true
			}
		case statemachine.Failed:
			w.t.Errorf("%s failed: %s", id, w.status(id).Message)
			served[id] = true
		case statemachine.Unseen, statemachine.PhaseReleased:
		}
	}
	return out
}

// seatsInLine is how many machines there are for the requests of these tests.
const seatsInLine = 5

// inLine runs a controller whose machines are all held by one request while n others wait for one each.
func (w *world) inLine(n int) *lookCount {
	w.t.Helper()
	w.Boot = time.Second
	w.Configure(func(c *reconciler.Config) { c.MaxInstances, c.Scan = seatsInLine, 24*time.Hour })
	m := &lookCount{}
	w.controllerWith("c1", reconciler.Options{Telemetry: reconciler.Telemetry{Queues: m}})
	w.serve(spec("holder", seatsInLine), time.Minute)
	for i := range n {
		w.submit(spec(lineID(i), 1, within(5*time.Hour)))
		w.awaitPhase(lineID(i), 1, statemachine.Pending, time.Minute)
	}
	time.Sleep(20 * time.Second)
	return m
}

// lookCount counts the looks at requests: a queue observes how long each took.
type lookCount struct{ n atomic.Int64 }

func (c *lookCount) NewWorkDurationMetric(queue string) workqueue.HistogramMetric {
	if queue != "requests" {
		return ignored{}
	}
	return observed(func() { c.n.Add(1) })
}

func (c *lookCount) NewDepthMetric(string) workqueue.GaugeMetric       { return ignored{} }
func (c *lookCount) NewAddsMetric(string) workqueue.CounterMetric      { return ignored{} }
func (c *lookCount) NewLatencyMetric(string) workqueue.HistogramMetric { return ignored{} }
func (c *lookCount) NewRetriesMetric(string) workqueue.CounterMetric   { return ignored{} }
func (c *lookCount) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return ignored{}
}
func (c *lookCount) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return ignored{}
}

type observed func()

func (o observed) Observe(float64) { o() }

type ignored struct{}

func (ignored) Inc()            {}
func (ignored) Dec()            {}
func (ignored) Set(float64)     {}
func (ignored) Observe(float64) {}

func lineID(i int) string { return fmt.Sprintf("w%04d", i) }

// looksServed is how many looks at requests one that is served may make: its own, from the line to its records'
// expiry, and those of the next ones that it makes room for.
const looksServed = 15

// S60: what a line of waiting requests costs grows with its length and no faster, counted in looks, not in time: at rest
// only the first looks, however long the line is, and one that is served makes no others look than the few that it
// leaves something for. They are served in the order in which they came.
func TestLine_LooksGrowLinearly_S60(t *testing.T) {
	takesLong(t)
	for _, n := range []int{10, 50, 150} {
		t.Run(fmt.Sprint(n), story(func(t *testing.T, w *world) {
			m := w.inLine(n)
			before := m.n.Load()
			time.Sleep(time.Minute)
			rest := m.n.Load() - before
			if rest > 10 {
				t.Errorf("%d looks in a minute at rest, want those of the first in line: one every %s", rest, w.Config().WarmPoll)
			}
			before = m.n.Load()
			w.serveLine(n)
			looks := m.n.Load() - before
			if most := int64(looksServed * (n + 1)); looks > most {
				t.Errorf("%d looks to serve %d, want at most %d", looks, n, most)
			}
			t.Logf("%d waiting: %d looks in a minute at rest, %.1f for each that was served", n, rest, float64(looks)/float64(n+1))
		}))
	}
}

// serveLine releases the instance of the holder, and then that of each request as soon as it is Ready. It checks that no
// request is Ready while one that came much earlier still has no instance. A request that has its instance may be Ready
// later than the next ones, because its agent reads its record only at its next poll.
func (w *world) serveLine(n int) {
	w.t.Helper()
	w.release("holder", 1, store.ReleaseDrain)
	first, served := 0, map[int]bool{}
	w.await(time.Duration(n)*10*time.Second, "all served", func() bool {
		for i := first; i < min(n, first+3*seatsInLine); i++ {
			if served[i] || w.status(lineID(i)).Phase != statemachine.Ready {
				continue
			}
			if oldest := w.oldestWithout(first, served); i-oldest >= 2*seatsInLine {
				w.t.Errorf("%s is served while %s waits", lineID(i), lineID(oldest))
			}
			served[i] = true
			w.release(lineID(i), 1, store.ReleaseDrain)
		}
		for served[first] {
			first++
		}
		return first == n
	})
}

// oldestWithout returns the first request from number first on that was not served and owns no instance.
func (w *world) oldestWithout(first int, served map[int]bool) int {
	held := w.held()
	for served[first] || held[lineID(first)] > 0 {
		first++
	}
	return first
}

// held counts the instances that each request owns.
func (w *world) held() map[string]int {
	held := map[string]int{}
	for _, in := range w.Instances() {
		if in.State.Owned() {
			held[string(in.RunID)]++
		}
	}
	return held
}

// S60 S62 S68: two requests of five over a pool of six, and no more to be had: the older is served,
// the younger waits and then gets its own.
func TestTwoRequestsOverAPoolOfSix(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 6 })
		defer w.controller("c1", nil)()
		w.warm("100", 6)
		w.submit(spec("200", 5))
		time.Sleep(5 * time.Millisecond)
		w.submit(spec("300", 5))
		first := w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second)
		time.Sleep(2 * time.Minute)
		if st := w.status("300"); st.Phase != statemachine.Pending {
			t.Fatalf("the younger is %s with one instance left, want Pending", st.Phase)
		}
		w.awaitJobs(w.jobs("200", 5, 10), time.Minute)
		w.release("200", 1, store.ReleaseDrain)
		second := w.awaitPhase("300", 1, statemachine.Ready, 30*time.Second)
		shared := 0
		for id := range ids(second) {
			if ids(first)[id] {
				shared++
			}
		}
		if shared != 4 || len(ids(second)) != 5 {
			t.Errorf("the younger got %v, want the one left and four of %v", ids(second), ids(first))
		}
		w.launched(6)
	})
}

// The same without a pool, from a fleet of six: what the younger got and the older lacks goes back.
func TestTwoRequestsOverAFleetOfSix_YoungerYields(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 6)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 4)) // leaves two
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.submit(spec("200", 3)) // the older: two come, one is missing
		time.Sleep(time.Second)
		w.submit(spec("300", 1))
		w.release("100", 1, store.ReleaseDrain) // now four are free
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.awaitPhase("300", 1, statemachine.Ready, time.Minute)
		if n := len(w.Fleet.Alive()); n != 6 {
			t.Errorf("%d machines live, want 6", n)
		}
	})
}
