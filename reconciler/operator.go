package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Options are what an Operator works with. The caller keeps ownership of all of it.
type Options struct {
	Config  Config
	Table   store.Table
	Pool    pool.Pool
	Fleet   fleet.Fleet
	GitHub  GitHub
	Chores  []Chore // done while leading, at once and then every Config.Housekeeping
	Clock   clock.WithTicker
	Offset  func() time.Duration // the store's clock minus ours, if it can tell; nil: no difference
	Log     *slog.Logger
	Metrics *Metrics // nil: counted for nobody
}

// Operator runs the controller.
type Operator struct {
	o    Options
	term atomic.Pointer[term] // nil: it does not lead
}

// New returns an Operator. It starts nothing.
func New(o Options) (*Operator, error) {
	switch {
	case o.Config.Holder == "":
		return nil, errors.New("reconciler: holder must not be empty")
	case o.Config.MaxCount > store.MaxSeats:
		return nil, fmt.Errorf("reconciler: maxCount must be at most %d, got %d", store.MaxSeats, o.Config.MaxCount)
	case len(o.Config.Classes) == 0:
		return nil, errors.New("reconciler: classes must not be empty")
	}
	if err := o.Config.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("reconciler: %w", err)
	}
	for i, c := range o.Chores {
		if c.Name == "" || slices.ContainsFunc(o.Chores[:i], func(other Chore) bool { return other.Name == c.Name }) {
			return nil, fmt.Errorf("reconciler: chores[%d]: name must be one of a kind, got %q", i, c.Name)
		}
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	return &Operator{o: o}, nil
}

// Run waits for the lease, controls, and waits again should it be lost. It returns nil when ctx ends,
// after everything it started has ended and the lease is given up.
func (op *Operator) Run(ctx context.Context) error {
	l := &leader{
		store: store.New(op.o.Table), clock: op.o.Clock, offset: op.o.Offset, log: op.o.Log, holder: op.o.Config.Holder,
		ttl: op.o.Config.LeaseTTL, request: op.o.Config.LeaseRequest,
	}
	return l.run(ctx, func(ctx context.Context, number int64) error {
		t := op.newTerm(number, l.fence(), l.since)
		op.term.Store(t)
		defer op.term.Store(nil)
		return t.run(ctx)
	})
}

// Candidates returns the instances that a request can be given at this moment, and nil while the operator does not lead or has not
// read the records. One whose claim is under way is no candidate.
func (op *Operator) Candidates() map[store.InstanceID]bool {
	t := op.term.Load()
	if t == nil || !t.loaded.Load() {
		return nil
	}
	out := map[store.InstanceID]bool{}
	for _, id := range t.pickup.Available() {
		out[store.InstanceID(id)] = true
	}
	return out
}

// newTerm builds a tenure from nothing.
func (op *Operator) newTerm(number int64, fence fence, since func() time.Time) *term {
	o := op.o
	clk := newTenureClock(o.Clock, o.Offset())
	t := &term{
		cfg: o.Config, store: store.New(trustedTable{o.Table, fence}), fleet: trustedFleet{o.Fleet, fence}, github: newAsideGitHub(trustedGitHub{o.GitHub, fence}),
		clock: clk, log: o.Log, metrics: o.Metrics,
		number:   number,
		trusted:  fence.open,
		writable: func() time.Time { return clk.of(since()) },
		astray:   func() time.Duration { return clk.astray(o.Offset()) },
		view:     newView(), batch: newBatch(), intending: make(chan struct{}, 1),
		refused: newExclusions(clk, o.Config.Exclusion),
		damped:  newDamped(o.Log, clk), drains: &drains{},
		orphans: sightings{}, strays: sightings{}, chores: map[string]func(context.Context) error{},
	}
	t.pickup = pool.NewPickup(trustedPool{o.Pool, fence}, clk, o.Log, pool.PickupOptions{IdleLimit: o.Config.Limits.Idle})
	t.waiting = newWaiting(t.pickup.Count)
	t.requests = newController("requests", requestWorkers, clk, o.Log, trusted(fence, t.reconcileRequest))
	t.instances = newController("instances", instanceWorkers, clk, o.Log, trusted(fence, t.reconcileInstance))
	t.announcer = newController("announcer", announcers, clk, o.Log, trusted(fence, t.announce))
	t.launches = newController("launches", launchWorkers, clk, o.Log, trusted(fence, t.reconcileLaunch))
	t.reaper = newController("reaper", 1, clk, o.Log, trusted(fence, t.reap))
	t.drainer = newController("drainer", 1, clk, o.Log, trusted(fence, t.readDrains))
	t.sweeper = newController("sweeper", sweepers, clk, o.Log, trusted(fence, t.sweep))
	t.keeper = newController("keeper", max(1, len(o.Chores)), clk, o.Log, trusted(fence, t.chore))
	for _, c := range o.Chores {
		t.chores[c.Name] = c.Do
	}
	return t
}

// secondScan follows the first, in case a write of the last leader arrived late.
const secondScan = 10 * time.Second

// shutDown ends every queue, also of a tenure that never came to run: a queue owns a goroutine from its
// beginning. It may be repeated.
func (t *term) shutDown() {
	for _, q := range []interface{ ShutDown() }{
		t.requests.queue, t.instances.queue, t.launches.queue, t.reaper.queue, t.sweeper.queue, t.keeper.queue, t.announcer.queue, t.drainer.queue,
	} {
		q.ShutDown()
	}
}

// run works until ctx ends: first the records, then the reconcilers, then the sources that feed
// them. All end together.
func (t *term) run(ctx context.Context) error {
	defer t.shutDown()
	if err := t.load(ctx); err != nil {
		return nil // only the end of ctx ends the attempts
	}
	if last := t.view.lastTerm(); last >= t.number {
		return &pastTerm{last}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.requests.run(ctx) })
	g.Go(func() error { return t.instances.run(ctx) })
	g.Go(func() error { return t.launches.run(ctx) })
	g.Go(func() error { return t.reaper.run(ctx) })
	g.Go(func() error { return t.sweeper.run(ctx) })
	g.Go(func() error { return t.keeper.run(ctx) })
	g.Go(func() error { return t.announcer.run(ctx) })
	g.Go(func() error { return t.drainer.run(ctx) })
	g.Go(func() error { return t.pickup.Run(ctx, t.classes, t.lookup) })
	g.Go(func() error { return t.listenRings(ctx) })
	g.Go(func() error { return t.poll(ctx) })
	g.Go(func() error { return t.keepTime(ctx) })
	g.Go(func() error { return t.pollClients(ctx) })
	t.enqueue()
	for _, key := range []string{sweepTemplate, sweepFleet, sweepRunners} {
		t.sweeper.add(key)
	}
	t.sweeper.queue.AddAfter(sweepRecords, secondScan)
	for name := range t.chores {
		t.keeper.add(name)
	}
	t.reaper.add(reapKey)
	err := g.Wait()
	if ctx.Err() != nil {
		return nil // stopping: whatever failed, failed for that
	}
	return err
}

// load scans everything before the first decision, as often as it takes.
func (t *term) load(ctx context.Context) error {
	start := t.clock.Now()
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second), backoff.WithMaxElapsedTime(0))
	err := backoff.RetryNotify(func() error { return t.scan(ctx) }, backoff.WithContext(pause, ctx),
		func(err error, _ time.Duration) { t.log.Warn("first scan", logkey.Error, err) })
	if err != nil {
		return err
	}
	t.view.each(func(in *instance) { in.unheard = false }) // the scan read what their agents said
	for _, s := range t.view.idle() {
		t.changed(s.ID) // the pool is known before the first request is served
	}
	t.queueUp()
	t.loaded.Store(true)
	total, _ := t.view.live("")
	t.log.Info("records read", logkey.Count, total, logkey.Seconds, t.clock.Since(start).Seconds())
	return nil
}

// queueUp puts the requests that are short in line before any is served, so that a new leader serves
// the oldest first too.
func (t *term) queueUp() {
	for _, id := range t.view.unfinished() {
		r, ok := t.view.getRun(id)
		if !ok || r.status == nil || !r.alive(r.status.Attempt) || r.status.Phase != statemachine.Pending {
			continue
		}
		q, err := t.cfg.query(*r.request)
		if err != nil {
			continue // it fails when its turn comes
		}
		open, _ := t.view.launchedFor(id, r.status.Attempt)
		short := r.request.Count - t.view.holds(id, r.status.Attempt) - open
		t.waiting.set(waiter{id: id, since: r.status.PendingAt.Time, query: q, short: max(0, short)}, t.requests.add)
	}
}

// scan reads every record and wakes everything that is not at rest. It is the net under all rings:
// correctness may rest on it alone.
func (t *term) scan(ctx context.Context) error {
	now := t.clock.Now()
	said := map[store.Principal]store.Vitals{}
	var junk junkItems
	err := t.store.Scan(ctx, store.Visitor{
		Request:  func(r store.RunRequest) { t.view.applyRun(r.ID, store.RunRecords{Request: &r}, now) },
		Status:   func(s store.RunStatus) { t.view.applyRun(s.ID, store.RunRecords{Status: &s}, now) },
		Instance: t.view.apply,
		Launch:   t.view.applyLaunch,
		Drain:    t.drainSeen,
		Heartbeat: func(b store.Heartbeat) {
			v := said[b.Principal]
			v.Heartbeat = b
			said[b.Principal] = v
		},
		Signal: func(s store.Signal) {
			v := said[s.Principal]
			v.Signal = s
			said[s.Principal] = v
		},
		Bad:  t.badRecord,
		Junk: junk.add,
	})
	if err != nil {
		return err
	}
	t.expireJunk(ctx, junk, now)
	t.view.each(func(in *instance) {
		in.hear(said[in.record.Principal], now, t.cfg.Limits.Window())
	})
	t.view.forget(now)
	t.enqueue()
	return nil
}

// enqueue adds every key that may have something to do.
func (t *term) enqueue() {
	for _, id := range t.view.unfinished() {
		t.requests.add(id)
	}
	t.wakeAll(func(in *instance) bool {
		return in.record.State != statemachine.Terminated || in.record.ExpiresAt.IsZero()
	})
	for _, l := range t.view.openLaunches() {
		t.launches.add(l.Token)
	}
}

// classes lists the queues to listen to.
func (t *term) classes() []string {
	out := make([]string, 0, len(t.cfg.Classes))
	for name := range t.cfg.Classes {
		out = append(out, name)
	}
	return out
}

// lookup answers a pool message: the record decides.
func (t *term) lookup(id string) (pool.Ticket, bool) {
	s, ok := t.view.get(store.InstanceID(id))
	if !ok {
		return pool.Ticket{}, false
	}
	t.view.with(s.ID, func(in *instance) { in.announced = !in.record.PooledAt.IsZero() })
	return t.candidate(s)
}

// listenRings turns rings into keys.
func (t *term) listenRings(ctx context.Context) error {
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second), backoff.WithMaxElapsedTime(0))
	err := backoff.RetryNotify(func() error { return t.store.Table().Watch(ctx, t.rung) },
		backoff.WithContext(pause, ctx),
		func(err error, _ time.Duration) { t.log.Warn("watch", logkey.Error, err) })
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopping
	}
	return err
}

// rung marks what a ring is about as unread and wakes it.
func (t *term) rung(k store.Key) {
	if id, ok := k.RequestID(); ok {
		if t.view.rung(id, t.clock.Now()) {
			t.requests.add(id)
		}
		return
	}
	if p, ok := k.Principal(); ok {
		if id, known := t.view.id(p); known {
			t.view.with(id, func(in *instance) { in.unheard = true })
			t.instances.add(id)
		}
		return
	}
	if id, ok := k.DrainID(); ok {
		if t.drains.add(id) {
			t.drainer.add(drainsKey)
		}
	}
}
