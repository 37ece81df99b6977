package reconciler

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// manager runs the controllers of one tenure.
type manager struct {
	*tenure
	cache         *cache
	scanner       *scanner
	notifications *notifications
	observer      *observer
	requests      *requests
	instances     *instances
	launches      *launches
	fleetSweep    *fleetSweep
	reaper        *reaper
	drainer       *drainer
	loops         []func(context.Context) error // what runs side by side once the records are read
}

// newManager wires the parts of a tenure. internal/repocheck holds them to a table of who holds whom.
func newManager(o Options, number int64, turn int, fence fence, since func() time.Time) *manager {
	clk := newTenureClock(o.Clock, o.Offset())
	if o.Telemetry.Recorder == nil {
		o.Telemetry.Recorder = noRecorder{}
	}
	o.Config.Watch.Off = o.Config.Watch.Off || o.Runs == nil
	t := &tenure{
		cfg: o.Config, clock: clk, log: o.Log, queues: newQueues(clk, o.Telemetry.Queues), recorder: o.Telemetry.Recorder,
		term: number, turn: turn, trusted: fence.open, writable: func() time.Time { return clk.of(since()) },
	}
	var (
		down     = newOutages(clk, o.Log)
		machines = trustedFleet{watchedFleet{o.Fleet, down.noter(serviceFleet)}, fence}
		hub      = newGuardedGitHub(o.GitHub, fence, down.noter(serviceGitHub))
		runs     = guardedRuns{o.Runs, hub}
		pickup   = pool.NewPickup(trustedPool{o.Pool, fence}, clk, o.Log)
		line     = newWaiting(pickup.Count, t.queues.requests.Add)
		wants    = newBatch()
		refused  = newExclusions(clk, o.Config.Exclusion)
	)
	c := newCache(t, store.NewPatient(trustedTable{o.Table, fence}, writeFor), pickup, line, wants)
	bad := &badRecords{tenure: t, cache: c, limited: newLimitedLog(o.Log, clk)}
	breaker := &breaker{tenure: t, cache: c}
	observer := &observer{tenure: t, cache: c, breaker: breaker, badRecords: bad}
	runners := &runners{tenure: t, cache: c, github: hub, preparing: newPreparing()}
	listeners := &listeners{tenure: t, cache: c, runners: runners, observer: observer}
	seats := &seats{tenure: t, cache: c, batch: wants}
	reasons := &reasons{tenure: t, cache: c, batch: wants, waiting: line, outages: down, refused: refused}
	statuses := &statuses{tenure: t, cache: c, seats: seats, batch: wants, reasons: reasons, tracer: o.Telemetry.Tracer}
	releases := &releases{tenure: t, cache: c, runners: runners, observer: observer, seats: seats}
	claims := &claims{tenure: t, cache: c, runners: runners, observer: observer, pickup: pickup, waiting: line}
	planner := &planner{cache: c, fleet: machines, refused: refused}
	filler := &filler{
		tenure: t, cache: c, statuses: statuses, releases: releases, claims: claims, planner: planner, batch: wants, waiting: line,
	}
	stock := &stock{tenure: t, cache: c, batch: wants, waiting: line}
	adopter := &adopter{tenure: t, cache: c, badRecords: bad}
	drainer := &drainer{tenure: t, cache: c, badRecords: bad, drains: drains{notified: map[string]bool{}}}
	fleetSweep := &fleetSweep{tenure: t, cache: c, fleet: machines, adopter: adopter, breaker: breaker, orphanMachines: firstSeen{}}
	runnerSweep := &runnerSweep{tenure: t, cache: c, github: hub, orphanRunners: firstSeen{}}
	checks := &checkRuns{tenure: t, github: runs}
	keeper := &costKeeper{tenure: t, cache: c}
	lost := &lostJobs{tenure: t, cache: c, statuses: statuses, checks: checks, github: runs}
	watcher := &watcher{tenure: t, cache: c, statuses: statuses, lost: lost, checks: checks, github: runs, stuck: &stuckJobs{tenure: t, cache: c, statuses: statuses, checks: checks, github: hub}}
	m := &manager{
		tenure: t, cache: c, observer: observer, drainer: drainer, fleetSweep: fleetSweep,
		scanner:       &scanner{tenure: t, cache: c, badRecords: bad, drainer: drainer, waiting: line, costs: keeper},
		notifications: &notifications{tenure: t, cache: c, drainer: drainer},
		requests:      &requests{tenure: t, cache: c, badRecords: bad, statuses: statuses, seats: seats, filler: filler, releases: releases},
		instances: &instances{
			tenure: t, cache: c, fleet: machines, breaker: breaker, observer: observer, runners: runners, listeners: listeners,
			ahead: newAhead(t, c, runners, down, func() store.GitHubBudget { return o.Health().GitHub }),
		},
		launches: &launches{
			tenure: t, cache: c, fleet: machines, batch: wants, planner: planner, adopter: adopter, refused: refused, stock: stock,
		},
		reaper: &reaper{tenure: t, cache: c, fleet: machines, fleetSweep: fleetSweep},
	}
	sweeps := tasks{
		sweepTemplate: {o.Config.Sweep, fleetSweep.checkTemplates},
		sweepFleet:    {o.Config.Sweep, fleetSweep.sweepFleet},
		sweepRunners:  {o.Config.Runners, runnerSweep.sweepRunners},
		sweepRecords:  {o.Config.Scan, m.scanner.scan},
		sweepDemand:   {demandPeriod, (&demands{t, c, map[string]*demandDay{}}).record},
		sweepCosts:    {costsPeriod, keeper.record},
	}
	chores := tasks{}
	for _, one := range o.Chores {
		chores[one.Name] = one.task(o.Config.Housekeeping)
		t.queues.housekeeping.Add(one.Name)
	}
	m.loops = []func(context.Context) error{
		control(t, fence, t.queues.requests, requestWorkers, m.requests.reconcileRequest),
		control(t, fence, t.queues.instances, instanceWorkers, m.instances.reconcileInstance),
		control(t, fence, t.queues.launches, launchWorkers, m.launches.reconcileLaunch),
		control(t, fence, t.queues.reaper, 1, m.reaper.reap),
		control(t, fence, t.queues.sweeper, sweepers, sweeps.look),
		control(t, fence, t.queues.housekeeping, max(1, len(chores)), chores.look),
		control(t, fence, t.queues.offers, offerWorkers, (&offers{t, c, pickup}).offer),
		control(t, fence, t.queues.drainer, 1, drainer.readDrains),
		control(t, fence, t.queues.runs, watchers, watcher.look),
		control(t, fence, t.queues.floors, floorWorkers, (&floors{tenure: t, cache: c, stock: stock, batch: wants, releases: releases}).reconcileFloor),
		func(ctx context.Context) error { return pickup.Run(ctx, t.cfg.classNames(), c.index.look) },
		m.notifications.watchNotifications, fleetSweep.watch(o.Fleet), observer.poll,
		func(ctx context.Context) error { return clk.keepTime(ctx, o.Offset, o.Log) },
		observer.pollClients, reasons.run,
	}
	return m
}

// control returns the loop of one controller. It looks at nothing while there is no trust.
func control[K comparable](
	t *tenure, f fence, q queue[K], workers int, reconcile func(context.Context, K) (Result, error),
) func(context.Context) error {
	return newController(q, workers, t.clock, t.log, trusted(f, reconcile)).run
}

// run works until ctx ends: first the records, then the reconcilers, then the sources that feed
// them. All end together.
func (m *manager) run(ctx context.Context) error {
	defer m.queues.shutDown()
	if err := m.scanner.load(ctx); err != nil {
		return nil // only the end of ctx ends the attempts
	}
	if last := m.cache.lastTerm(); last > m.term || last == m.term && m.turn == 0 {
		return &termTaken{last}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, loop := range m.loops {
		g.Go(func() error { return loop(ctx) })
	}
	m.scanner.enqueue()
	for _, key := range []string{sweepTemplate, sweepFleet, sweepRunners, sweepDemand, sweepCosts} {
		m.queues.sweeper.Add(key)
	}
	m.queues.sweeper.AddAfter(sweepRecords, secondScan)
	m.queues.reaper.Add(reapKey)
	err := g.Wait()
	if ctx.Err() != nil {
		return nil // stopping, and so they failed
	}
	return err
}
