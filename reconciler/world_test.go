package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/remuda-run/remuda/internal/githubsim"
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
	dir := t.TempDir() // before Cleanup: it goes after the agents
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
	*w.Config = reconciler.Defaults()
	w.Config.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 4, Mem: 8192}}
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

// spec is a request with the defaults of the tests.
func spec(id string, count int) store.RunRequest {
	return store.RunRequest{
		ID: store.RequestID(id), Attempt: 1, Count: count, UsageClasses: []string{store.Spot},
		AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
		MaxRuntime: store.SecondsOf(30 * time.Minute), Timeout: store.SecondsOf(10 * time.Minute),
	}
}

// submit writes a request and keeps its client alive until the world ends or done is called.
func (w *world) submit(r store.RunRequest) (done func()) {
	w.t.Helper()
	r.CreatedAt = store.At(w.Clock.Now())
	if _, err := w.Store.Submit(w.t.Context(), r); err != nil {
		w.t.Fatalf("submit %s: %v", r.ID, err)
	}
	return w.Client(r)
}

func (w *world) release(id string, attempt int, mode store.ReleaseMode) {
	w.t.Helper()
	if err := w.GiveBack(w.t.Context(), store.RequestID(id), attempt, mode); err != nil {
		w.t.Fatalf("release %s: %v", id, err)
	}
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
		if st.Attempt == attempt && st.Phase == statemachine.Failed && phase != statemachine.Failed && phase != statemachine.ReleasedPhase {
			w.dump()
			w.t.Fatalf("request %s/%d failed: %s: %s", id, attempt, st.Reason, st.Message)
		}
		return st.Attempt == attempt && st.Phase == phase
	})
	return st
}

// serve submits a request and waits until its attempt is Ready.
func (w *world) serve(r store.RunRequest, limit time.Duration) store.RunStatus {
	w.t.Helper()
	w.submit(r)
	return w.awaitPhase(string(r.ID), r.Attempt, statemachine.Ready, limit)
}

// give releases an attempt and waits until it is Released.
func (w *world) give(id string, attempt int, mode store.ReleaseMode, limit time.Duration) {
	w.t.Helper()
	w.release(id, attempt, mode)
	w.awaitPhase(id, attempt, statemachine.ReleasedPhase, limit)
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

// jobs queues n jobs of a run and returns their ids.
func (w *world) jobs(run string, n int, seconds float64) []string {
	w.t.Helper()
	var out []string
	for i := range n {
		id := fmt.Sprintf("%s-job-%d-%d", run, len(w.Hub.Jobs()), i)
		if err := w.Hub.Submit(githubsim.Job{ID: id, RunID: run, Label: run, Name: id, Seconds: seconds}); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

// awaitJobs waits until every job is completed and returns who ran it.
func (w *world) awaitJobs(ids []string, limit time.Duration) []githubsim.JobRecord {
	w.t.Helper()
	var out []githubsim.JobRecord
	w.await(limit, "jobs done", func() bool {
		out = nil
		for _, id := range ids {
			j, err := w.Hub.Job(id)
			if err != nil {
				w.t.Fatal(err)
			}
			if j.State != githubsim.Completed {
				return false
			}
			out = append(out, j)
		}
		return true
	})
	return out
}

// signal returns what the agent of an instance reported last.
func (w *world) signal(id store.InstanceID) store.SignalName {
	w.t.Helper()
	p := w.instance(id).Principal
	got, err := w.Store.Vitals(w.t.Context(), func(store.Key, error) {}, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[p].Signal.Value.Signal
}

// warm brings n instances into the pool, by a run of its own.
func (w *world) warm(run string, n int, change func(*store.RunRequest)) store.RunStatus {
	w.t.Helper()
	r := spec(run, n)
	if change != nil {
		change(&r)
	}
	before := w.pooled()
	defer w.submit(r)()
	st := w.awaitPhase(run, 1, statemachine.Ready, 5*time.Minute)
	w.give(run, 1, store.Drain, time.Minute)
	w.await(time.Minute, "pooled", func() bool { return w.pooled() == before+n })
	return st
}
