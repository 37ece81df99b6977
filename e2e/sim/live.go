package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Live is a world that a test drives call by call, where others follow a Script. No gates stand between its programs: a call
// takes no time, and nothing happens to it but what the test puts between. The laws hold as in every world, but for those that
// must know what is out of order: that only the test knows.
type Live struct {
	Clock clock.WithTicker
	Table store.Table // as everybody sees it, held to the laws
	Under store.Table // below the laws
	Store *store.Store
	Pool  pool.Pool
	Fleet *fleettest.Memory
	Hub   *githubsim.Hub
	Log   *slog.Logger

	// Of machines launched from now on.
	Script     agent.Script
	Boot       time.Duration
	Grace      time.Duration // of the agent's own timer; 0: the default
	IdlePoll   time.Duration // between the agent's reads while it waits to be assigned, most of a long story's work; 0: the default
	Skew       time.Duration // the agent's clock minus everybody else's
	Powerless  bool          // the agent cannot end its machine
	Unanswered bool          // the listener's calls that hang are never answered
	AgentTable store.Table   // what the agent sees of the store; nil: all of it

	w     *World
	down  atomic.Bool // the store takes no write
	mu    sync.Mutex
	stops []func()
}

// unknowable are the laws that need the faults in effect, the wishes of workflow users, or the prices and costs of a test.
var unknowable = []string{Just, Soon, Served, Warm, Follows, Filled, Counted, Steps}

// NewLive returns an empty world whose records and queue are in table and p. Agents keep their state in dir.
func NewLive(o Script, dir string, log *slog.Logger, table store.Table, p pool.Pool) *Live {
	o.Under = func(store.Table) store.Table { return table }
	o = o.complete()
	w := newWorld(o, dir)
	w.pool, w.log = p, log
	l := &Live{
		Clock: w.clock, Under: table, Pool: p, Fleet: w.fleet, Hub: w.hub, Log: log, Boot: o.Boot, w: w,
	}
	l.Table = liveTable{w.truth, l}
	l.Store = store.New(l.Table)
	l.Waive(unknowable...)
	w.fleet.SetEndDelay(0)
	w.fleet.OnLaunch(l.Start)
	w.truth.watch()
	return l
}

// Waive lets laws, or reasons for which a healthy machine ends, be: the test is about them.
func (l *Live) Waive(what ...string) { l.w.verdicts.waive(what...) }

// End stops everything and returns what was violated.
func (l *Live) End() []Violation {
	l.w.truth.finish()
	close(l.w.ended)
	l.mu.Lock()
	stops := l.stops
	l.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
	l.w.machines.end()
	l.w.running.Wait()
	return l.w.verdicts.all
}

// Go runs do, which returns soon after the world has ended.
func (l *Live) Go(do func(ended <-chan struct{})) { l.w.running.Go(func() { do(l.w.ended) }) }

// liveTable takes writes as long as the store is not down.
type liveTable struct {
	store.Table
	l *Live
}

func (t liveTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if t.l.down.Load() {
		return fmt.Errorf("put: %w", store.ErrUnavailable)
	}
	return t.Table.Put(ctx, item, expect)
}

// Down lets the store take no writes, or take them again.
func (l *Live) Down(is bool) {
	l.down.Store(is)
	l.w.outages.set("store", is)
}

// Controller starts a controller. Where o names nothing else it has all of the world. stop ends it in order.
func (l *Live) Controller(name string, o reconciler.Options) (op *reconciler.Operator, stop func(), err error) {
	o.Config, o.Log = l.w.supervisor.config(), l.Log.With(logkey.Holder, name)
	o.Config.Holder = name
	o.Clock, o.Table, o.Pool = cmp.Or(o.Clock, l.Clock), cmp.Or(o.Table, l.Table), cmp.Or(o.Pool, l.Pool)
	o.Fleet, o.GitHub = cmp.Or[fleet.Fleet](o.Fleet, l.Fleet), cmp.Or[reconciler.GitHub](o.GitHub, l.Hub)
	o.Runs = cmp.Or[reconciler.Runs](o.Runs, judgedRuns{l.w, l.Hub.Workflows()})
	if op, err = reconciler.New(o); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := op.Run(ctx); err != nil {
			l.w.verdicts.broke("controller runs", "%s: %v", name, err)
		}
	}()
	stop = func() { cancel(); <-done }
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stops = append(l.stops, stop)
	return op, stop, nil
}

// Config is the configuration of controllers that start now.
func (l *Live) Config() reconciler.Config { return l.w.supervisor.config() }

// Configure changes the configuration of controllers that start now, also while some run, and returns it.
func (l *Live) Configure(change func(*reconciler.Config)) reconciler.Config {
	s := l.w.supervisor
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.cfg)
	return s.cfg
}

// Gated is a controller behind gates, as all programs of a script are.
type Gated struct{ p *process }

// Pause makes every call of the controller wait for d.
func (g Gated) Pause(d time.Duration) { g.p.pause(d) }

// Gated starts a controller and lets faultOf say what fault each of its calls meets. There may be one in a world.
func (l *Live) Gated(name string, faultOf func(Gated, Call) Kind) {
	g := Gated{l.w.newProcess(Controller, name)}
	l.w.faults.live = func(c Call) Kind { return faultOf(g, c) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.w.supervisor.serve(&supervised{w: l.w, name: name}, g.p)
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stops = append(l.stops, func() { g.p.kill(); <-done })
}

// Client keeps the client of a request alive until the world ends or gone is called: it says that it lives, and
// notifies again while its attempt was not taken up.
func (l *Live) Client(r store.RunRequest) (gone func()) {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.stops = append(l.stops, cancel)
	l.mu.Unlock()
	beat := func() error {
		if err := l.Store.Seen(ctx, r.ID, r.Attempt, l.Clock.Now()); err != nil {
			return err
		}
		if st, err := l.Store.Status(ctx, store.Eventual, r.ID); err == nil && st.Attempt >= r.Attempt {
			return nil
		}
		return l.Store.Notify(ctx, r.ID)
	}
	l.w.running.Go(func() {
		for ctx.Err() == nil {
			if err := beat(); err != nil && ctx.Err() == nil {
				l.w.verdicts.broke("client runs", "of %s: %v", r.ID, err)
			}
			_ = wait(ctx, 5*time.Second) // its end ends the loop
		}
	})
	return cancel
}

// GiveBack releases an attempt.
func (l *Live) GiveBack(ctx context.Context, id store.RequestID, attempt int, mode store.ReleaseMode) error {
	l.w.truth.facts.gaveBack(id, attempt)
	if mode == store.ReleaseNow {
		for _, j := range l.Hub.Jobs() {
			if j.Label == string(id) {
				l.Cut(j.ID)
			}
		}
	}
	_, err := l.Store.Release(ctx, id, attempt, mode)
	return err
}

// Start boots a machine: after the boot time its agent runs.
func (l *Live) Start(fm fleet.Machine) {
	w := l.w
	w.truth.demand.launched(fm)
	m, ctx, err := w.machines.add(fm, w.clock.Now())
	if err != nil {
		w.verdicts.broke("machine boots", "%s: %v", m.id, err)
		return
	}
	m.runner.Lag, m.runner.Begin, m.runner.Unanswered = 0, 0, l.Unanswered
	o := agent.Options{
		Store: l.Store, Principal: m.principal, InstanceID: store.InstanceID(m.id), Dir: filepath.Join(w.dir, m.id), Exe: "/bin/false", Version: "test",
		Clock: offset{l.Clock, l.Skew}, Log: l.Log.With(logkey.InstanceID, m.id), Grace: l.Grace, IdlePoll: l.IdlePoll,
		Runner: m.runner, Machine: m, Script: l.Script,
	}
	if l.AgentTable != nil {
		o.Store = store.New(l.AgentTable)
	}
	if l.Powerless {
		o.Machine = powerless{m}
	}
	boot := l.Boot
	w.running.Go(func() {
		defer m.runner.Wait()
		defer m.cancel()
		if wait(ctx, boot) != nil {
			return
		}
		a, err := agent.New(o)
		if err == nil {
			m.runs(a)
			err = a.Run(ctx)
		}
		if err != nil && !errors.Is(err, agent.ErrHalted) {
			w.verdicts.broke("agent runs", "%s: %v", m.id, err)
		}
	})
}

// offset is a clock that shows another time and runs as fast.
type offset struct {
	clock.WithTicker
	by time.Duration
}

func (c offset) Now() time.Time                  { return c.WithTicker.Now().Add(c.by) }
func (c offset) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// powerless is a machine that its agent cannot end.
type powerless struct{ *machine }

func (powerless) Halt(context.Context, string) error { return nil }

// Crash is a sudden loss of the machine behind the system's back.
func (l *Live) Crash(id store.InstanceID) { l.w.machines.reclaim(string(id)) }

// Hang stops everything on a machine while the fleet goes on showing it.
func (l *Live) Hang(id store.InstanceID) {
	l.Disturb(id)
	l.of(id).cancel()
}

// Disturb exempts the end of a machine for good: the test hurt it.
func (l *Live) Disturb(id store.InstanceID) { l.w.machines.disturb(string(id)) }

// Fall makes a machine ill: GitHub is right to refuse it.
func (l *Live) Fall(id store.InstanceID, cause string) { l.of(id).runner.Fall(cause) }

// Cut says that the test wants jobs to end before they are done.
func (l *Live) Cut(jobs ...string) {
	for _, j := range jobs {
		l.w.workflows.end(j)
	}
}

// SetTemplate changes what machines are launched from, of a class alone unless it is "".
func (l *Live) SetTemplate(version, class string) { template{version, class}.do(l.w) }

// Interrupt gives a machine its two-minute notice.
func (l *Live) Interrupt(id store.InstanceID) {
	l.Disturb(id)
	l.of(id).notice.Store(true)
}

func (l *Live) of(id store.InstanceID) *machine { return l.w.machines.of(string(id)) }

// Instances returns every instance record as it was last written.
func (l *Live) Instances() map[store.InstanceID]store.Instance {
	l.w.truth.records.mu.Lock()
	defer l.w.truth.records.mu.Unlock()
	return maps.Clone(l.w.truth.records.instances)
}

// Launches returns every launch as it was last written.
func (l *Live) Launches() map[string]store.Launch {
	l.w.truth.records.mu.Lock()
	defer l.w.truth.records.mu.Unlock()
	return maps.Clone(l.w.truth.records.launches)
}

// Owners returns how many runs owned an instance, one after the other.
func (l *Live) Owners(id store.InstanceID) int {
	l.w.truth.records.mu.Lock()
	defer l.w.truth.records.mu.Unlock()
	return len(l.w.truth.owners.history[id])
}
