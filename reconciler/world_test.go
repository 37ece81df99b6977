package reconciler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
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

// world is a whole installation in one synctest bubble: store and pool in memory, real agents and
// controllers, a fleet in memory, a simulated GitHub. Time is virtual.
type world struct {
	t      testing.TB
	dir    string // of all agents
	clock  clock.WithTicker
	table  store.Table
	audit  *auditor
	store  *store.Store
	pool   pool.Pool
	fleet  *fleettest.Memory
	hub    *githubsim.Hub
	cfg    reconciler.Config
	log    *slog.Logger
	alarms *alarms

	// Of machines launched from now on.
	script     agent.Script
	boot       time.Duration
	grace      time.Duration // of the agent's own timer; 0: the default
	idlePoll   time.Duration // between its reads while it waits to be assigned, most of a long story's work; 0: the default
	skew       time.Duration // its clock minus everybody else's
	powerless  bool          // its agent cannot end it
	unanswered bool          // its listener's calls that hang are never answered
	agentTable store.Table   // what its agent sees of the store; nil: all of it

	mu          sync.Mutex
	machines    map[string]*machine
	stops       []func()                  // of controllers and clients
	interrupted map[string]bool           // machines that were given notice
	harmed      map[string]bool           // machines that were crashed, hung or halted themselves
	exempt      map[string]bool           // machines that the patrol leaves alone
	erased      map[store.InstanceID]bool // whose records a test took away
	running     sync.WaitGroup
	ended       chan struct{}
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
	p, err := sqlitepool.OpenMemory(ctx, clk)
	return table, p, err
}

// run executes test in a bubble with a fresh world in memory.
func run(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	runOn(t, inMemory, test)
}

// runOn executes test in a bubble with a fresh world, and checks at the end that nothing was leaked
// and nothing was violated.
func runOn(t *testing.T, open openBackends, test func(t *testing.T, w *world)) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) { test(t, newWorld(t, open)) })
}

// end stops everything and holds the whole story to the rules once more.
func (w *world) end() {
	close(w.ended)
	for _, stop := range w.stops {
		stop()
	}
	w.killAll()
	w.running.Wait()
	w.checkAudit()
	if err := w.pool.Close(); err != nil {
		w.t.Errorf("close pool: %v", err)
	}
	if err := w.table.Close(); err != nil {
		w.t.Errorf("close table: %v", err)
	}
}

// newWorld makes a world that ends with the test.
func newWorld(t testing.TB, open openBackends) *world {
	t.Helper()
	dir := t.TempDir() // before Cleanup: it goes after the agents
	clk := clock.RealClock{}
	table, p, err := open(t.Context(), clk)
	if err != nil {
		t.Fatal(err)
	}
	audit := newAuditor(t, table, clk.Now)
	cfg := reconciler.Defaults()
	cfg.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 4, Mem: 8192}}

	alarms := newAlarms()
	w := &world{
		t: t, dir: dir, clock: clk, table: audit, audit: audit, store: store.New(audit), pool: p, ended: make(chan struct{}),
		fleet: fleettest.NewMemory(clk), hub: githubsim.New(githubsim.Options{Clock: clk}),
		cfg: cfg, log: slog.New(alarms), alarms: alarms,
		boot: 20 * time.Second, machines: map[string]*machine{}, interrupted: map[string]bool{},
		harmed: map[string]bool{}, exempt: map[string]bool{}, erased: map[store.InstanceID]bool{},
	}
	audit.limits, audit.harmed = &w.cfg.Limits, w.wasHarmed
	w.fleet.OnLaunch(w.start)
	w.fleet.OnTerminate(w.stop)
	w.patrol()
	t.Cleanup(w.end)
	return w
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
	o.Config, o.Log = w.cfg, w.log.With("controller", name)
	if o.Clock == nil {
		o.Clock = w.clock
	}
	o.Config.Holder = name
	if o.Table == nil {
		o.Table = w.table
	}
	if o.Pool == nil {
		o.Pool = w.pool
	}
	if o.Fleet == nil {
		o.Fleet = w.fleet
	}
	if o.GitHub == nil {
		o.GitHub = w.hub
	}
	op, err := reconciler.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := op.Run(ctx); err != nil {
			w.t.Errorf("controller %s: %v", name, err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	w.stops = append(w.stops, stop)
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
	r.CreatedAt = store.At(w.clock.Now())
	if _, err := w.store.Submit(w.t.Context(), r); err != nil {
		w.t.Fatalf("submit %s: %v", r.ID, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stops = append(w.stops, cancel)
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		for ctx.Err() == nil {
			if err := w.wait(ctx, r); err != nil && ctx.Err() == nil {
				w.t.Errorf("client of %s: %v", r.ID, err)
			}
			select {
			case <-ctx.Done():
			case <-w.clock.After(5 * time.Second):
			}
		}
	}()
	return cancel
}

// wait is one round of a waiting client: it says that it lives, and rings again while its attempt was
// not taken up.
func (w *world) wait(ctx context.Context, r store.RunRequest) error {
	if err := w.store.Seen(ctx, r.ID, r.Attempt, w.clock.Now()); err != nil {
		return err
	}
	if st, err := w.store.Status(ctx, store.Eventual, r.ID); err == nil && st.Attempt >= r.Attempt {
		return nil
	}
	return w.store.Ring(ctx, r.ID)
}

func (w *world) release(id string, attempt int, mode store.ReleaseMode) {
	w.t.Helper()
	if _, err := w.store.Release(w.t.Context(), store.RequestID(id), attempt, mode); err != nil {
		w.t.Fatalf("release %s: %v", id, err)
	}
}

// status reads the controller's answer; the zero status means none.
func (w *world) status(id string) store.RunStatus {
	w.t.Helper()
	rec, err := w.store.Run(w.t.Context(), store.Consistent, store.RequestID(id))
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
	start := w.clock.Now()
	for !cond() {
		if w.clock.Since(start) > limit {
			w.dump()
			w.t.Fatalf("%s: not within %s", what, limit)
		}
		time.Sleep(step)
	}
	return w.clock.Since(start)
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

// instances returns every instance record, as the auditor saw it written; checkAudit compares both.
func (w *world) instances() map[store.InstanceID]store.Instance { return w.audit.instances() }

// instance returns one instance record; the zero one means none.
func (w *world) instance(id store.InstanceID) store.Instance { return w.instances()[id] }

// in counts the instances in a state.
func (w *world) in(state statemachine.State) int {
	n := 0
	for _, in := range w.instances() {
		if in.State == state {
			n++
		}
	}
	return n
}

// pooled counts the claimable instances.
func (w *world) pooled() int {
	n := 0
	for _, in := range w.instances() {
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

func (w *world) dump() {
	for _, in := range w.instances() {
		w.t.Logf("%s %s run=%q assignment=%d pooled=%v reason=%q left=%s", in.ID, in.State, in.RunID, in.Assignment,
			!in.PooledAt.IsZero(), in.Reason, in.Threshold.Sub(w.clock.Now()))
	}
	for _, r := range w.hub.Registrations() {
		w.t.Logf("runner %+v", r)
	}
}

var _ fleet.Fleet = (*fleettest.Memory)(nil)
