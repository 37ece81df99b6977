package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/pool/sqlitepool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
	"github.com/remuda-run/remuda/store/storetest"
)

// world is the simulation's, driven by a test in a synctest bubble: store and pool in memory, real agents and
// controllers, a fleet in memory, a simulated GitHub, and the laws. Time is virtual.
type world struct {
	*sim.Live

	t      testing.TB
	alarms *alarms
}

// openBackends opens the store and the pool of a world.
type openBackends func(ctx context.Context, clk clock.WithTicker) (store.Table, pool.Pool, error)

// inMemory is quick; onSQLite is what one machine really uses.
func inMemory(_ context.Context, clk clock.WithTicker) (store.Table, pool.Pool, error) {
	return storetest.NewMemory(clk), pooltest.NewMemory(clk), nil
}

func onSQLite(ctx context.Context, clk clock.WithTicker) (store.Table, pool.Pool, error) {
	table, err := sqlitestore.OpenMemory(ctx, clk)
	if err != nil {
		return nil, nil, err
	}
	p, err := sqlitepool.Open(ctx, &url.URL{Scheme: "sqlite", Opaque: ":memory:"}, clk)
	return table, p, err
}

// run executes test in a bubble with a fresh world in memory.
func run(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	runOn(t, inMemory, test)
}

// led is run with a controller that leads.
func led(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		test(t, w)
	})
}

// story and storyLed are run and led as subtests; storyBeside is a story that is told beside others.
func story(test func(t *testing.T, w *world)) func(*testing.T) {
	return func(t *testing.T) { run(t, test) }
}

func storyLed(test func(t *testing.T, w *world)) func(*testing.T) {
	return func(t *testing.T) { led(t, test) }
}

func storyBeside(test func(t *testing.T, w *world)) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		run(t, test)
	}
}

// runOn executes test in a bubble with a fresh world, and checks at the end that nothing was leaked
// and nothing was violated.
func runOn(t *testing.T, open openBackends, test func(t *testing.T, w *world)) {
	t.Helper()
	runScript(t, sim.Script{}, open, test)
}

// runScript is runOn with a script of what the world is like.
func runScript(t *testing.T, o sim.Script, open openBackends, test func(t *testing.T, w *world)) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) { test(t, newWorld(t, o, open)) })
}

// newWorld makes a world that ends with the test.
func newWorld(t testing.TB, o sim.Script, open openBackends) *world {
	t.Helper()
	dir, err := sim.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // first: it goes after the agents
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	table, p, err := open(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	alarms := &alarms{}
	log := slog.Handler(slog.NewTextHandler(alarms, &slog.HandlerOptions{Level: slog.LevelError}))
	if os.Getenv("REMUDA_TEST_LOG") != "" {
		log = slog.NewMultiHandler(log, slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	w := &world{Live: sim.NewLive(o, dir, slog.New(log), table, p), t: t, alarms: alarms}
	w.Configure(func(c *reconciler.Config) {
		*c = reconciler.Defaults()
		c.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 4, Mem: 8192}}
	})
	t.Cleanup(func() {
		for _, v := range w.End() {
			t.Error(v)
		}
		if err := errors.Join(p.Close(), table.Close()); err != nil {
			t.Errorf("close back ends: %v", err)
		}
	})
	return w
}

// class changes what the controllers know of a class.
func (w *world) class(name string, change func(*reconciler.Class)) {
	w.Configure(func(cfg *reconciler.Config) {
		cfg.Classes = maps.Clone(cfg.Classes) // running controllers read the one they have
		c := cfg.Classes[name]
		change(&c)
		cfg.Classes[name] = c
	})
}

// alarms keeps what a world logged at level Error: what somebody must act on. With REMUDA_TEST_LOG set the whole
// story of a test goes to standard error as well.
type alarms struct {
	mu    sync.Mutex
	lines []string
}

func (a *alarms) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, string(line))
	return len(line), nil
}

func (a *alarms) raised() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

// controller starts a controller and returns how to stop it in order. table is what it sees of the
// store; nil: all of it.
func (w *world) controller(name string, table store.Table) (stop func()) {
	w.t.Helper()
	return w.controllerWith(name, reconciler.Options{Table: table})
}

func (w *world) controllerWith(name string, o reconciler.Options) (stop func()) {
	w.t.Helper()
	_, stop = w.operator(name, o)
	return stop
}

// operator starts a controller and returns it, too.
func (w *world) operator(name string, o reconciler.Options) (op *reconciler.Operator, stop func()) {
	w.t.Helper()
	op, stop, err := w.Controller(name, o)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait() // it leads, or it waits for the lease
	return op, stop
}

// status reads the controller's answer; the zero status means none.
func (w *world) status(id string) store.RunStatus {
	w.t.Helper()
	rec, err := w.Store.Run(w.t.Context(), store.Consistent, store.RequestID(id))
	if err != nil {
		w.t.Fatalf("status %s: %v", id, err)
	}
	if rec.Status == nil {
		return store.RunStatus{}
	}
	return *rec.Status
}

// await sleeps in steps until cond holds, at most limit of virtual time.
func (w *world) await(limit time.Duration, what string, cond func() bool) time.Duration {
	w.t.Helper()
	return w.awaitEvery(100*time.Millisecond, limit, what, cond)
}

// awaitEvery is await with steps of another length, for what is costly to look at.
func (w *world) awaitEvery(step, limit time.Duration, what string, cond func() bool) time.Duration {
	w.t.Helper()
	start := w.Clock.Now()
	for !cond() {
		if w.Clock.Since(start) > limit {
			w.dump()
			w.t.Fatalf("%s: not within %s", what, limit)
		}
		time.Sleep(step)
	}
	return w.Clock.Since(start)
}

// awaitPhase waits for a phase of a request's attempt.
func (w *world) awaitPhase(id string, attempt int, phase statemachine.Phase, limit time.Duration) store.RunStatus {
	w.t.Helper()
	var st store.RunStatus
	w.await(limit, fmt.Sprintf("request %s/%d %s", id, attempt, phase), func() bool {
		st = w.status(id)
		if st.Attempt == attempt && st.Phase == statemachine.Failed && phase != statemachine.Failed && phase != statemachine.PhaseReleased {
			w.dump()
			w.t.Fatalf("request %s/%d failed: %s: %s", id, attempt, st.Reason, st.Message)
		}
		return st.Attempt == attempt && st.Phase == phase
	})
	return st
}

// launched expects so many machines to have been launched.
func (w *world) launched(want int) {
	w.t.Helper()
	if n := w.Fleet.Launched(); n != want {
		w.t.Errorf("launched %d, want %d", n, want)
	}
}

// instance returns one instance record; the zero one means none.
func (w *world) instance(id store.InstanceID) store.Instance { return w.Instances()[id] }

// in counts the instances in a state.
func (w *world) in(state statemachine.State) int {
	n := 0
	for _, in := range w.Instances() {
		if in.State == state {
			n++
		}
	}
	return n
}

// pooled counts the claimable instances.
func (w *world) pooled() int {
	n := 0
	for _, in := range w.Instances() {
		if in.State == statemachine.Idle && !in.PooledAt.IsZero() {
			n++
		}
	}
	return n
}

// ids returns the instances of a status.
func ids(st store.RunStatus) map[store.InstanceID]bool {
	out := map[store.InstanceID]bool{}
	for _, s := range st.Instances {
		out[s.InstanceID] = true
	}
	return out
}

// checkDrained waits until nothing is left: no machine, no open record, no runner at GitHub.
func (w *world) checkDrained(limit time.Duration) {
	w.t.Helper()
	w.await(limit, "everything gone", func() bool {
		if len(w.Fleet.Alive()) > 0 {
			return false
		}
		for _, in := range w.Instances() {
			if in.State != statemachine.Terminated || in.ExpiresAt.IsZero() {
				return false
			}
		}
		return len(w.Hub.Registered()) == 0
	})
}

func (w *world) dump() {
	for _, in := range w.Instances() {
		w.t.Logf("%s %s run=%q assignment=%d pooled=%v reason=%q left=%s", in.ID, in.State, in.RunID, in.Assignment,
			!in.PooledAt.IsZero(), in.Reason, in.Threshold.Sub(w.Clock.Now()))
	}
	for _, r := range w.Hub.Registrations() {
		w.t.Logf("runner %+v", r)
	}
}

// checkNoneEnded: no machine was ended for GitHub's sake.
func (w *world) checkNoneEnded() {
	w.t.Helper()
	for _, in := range w.Instances() {
		if in.State == statemachine.Terminated {
			w.t.Errorf("%s was ended: %s", in.ID, in.Reason)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
