// Package bench measures a whole installation in one process: the real controller and real agents
// over one SQLite file, each with a connection of its own as their processes would have, on a fleet
// in memory and beside a GitHub that answers at once. Time is real. Other back ends can take the place
// of file and fleet.
//
// The results, and which goals they meet, are in docs/benchmarks.md.
package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqlitepool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// Options of a World. Only Dir is required.
type Options struct {
	Dir   string                   // an existing folder for the SQLite file and the agents' states
	Poll  time.Duration            // between an agent's reads of its record; 0: as the product does
	Delay *Delay                   // of every call of the store; nil: none
	Log   *slog.Logger             // nil: nothing is logged
	Tune  func(*reconciler.Config) // changes the defaults; nil: none

	Backends *Backends        // nil: SQLite, and machines in memory
	NoAgents bool             // machines run nothing
	Metrics  *metrics.Metrics // of the controller; nil: none are kept
}

// Backends take the place of SQLite and of the fleet in memory.
type Backends struct {
	Table func(ctx context.Context, who Who) (store.Table, error) // a connection of its own; nil: SQLite
	Pool  func(ctx context.Context) (pool.Pool, error)            // nil: SQLite
	Fleet fleet.Fleet                                             // stays the caller's; required
}

// Who asks something of a store.
type Who string

// The parties.
const (
	Client     Who = "client"
	Controller Who = "controller"
	Agents     Who = "agents"
)

// World is one installation. Its clients use Client; what each party asks of the store is counted.
type World struct {
	Client  *store.Store
	Journal *Journal // what the controller wrote
	Pool    *CountedPool
	Fleet   *fleettest.Memory
	Hub     *githubsim.Hub
	// What clients, controller and agents ask of the store.
	ByClient, ByController, ByAgents *Meter

	o      Options
	table  store.Table // of the controller
	closes []func() error

	mu       sync.Mutex
	machines map[string]context.CancelFunc
}

// Open opens a World. The caller closes it.
func Open(ctx context.Context, o Options) (_ *World, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	clk := clock.RealClock{}
	w := &World{
		Journal: newJournal(), Fleet: fleettest.NewMemory(clk), Hub: githubsim.New(githubsim.Options{Clock: clk}),
		ByClient: new(Meter), ByController: new(Meter), ByAgents: new(Meter),
		o: o, machines: map[string]context.CancelFunc{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	queues, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	w.closes = append(w.closes, queues.Close)
	w.Pool = &CountedPool{Pool: queues}
	client, err := w.Table(ctx, w.ByClient)
	if err != nil {
		return nil, err
	}
	w.closes = append(w.closes, client.Close)
	w.Client = store.New(client)
	controller, err := w.Table(ctx, w.ByController)
	if err != nil {
		return nil, err
	}
	w.closes = append(w.closes, controller.Close)
	w.table = w.Journal.Watch(controller)
	return w, nil
}

// Close closes what Open opened, after Run has returned.
func (w *World) Close() error {
	var errs []error
	for _, end := range w.closes {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func (w *World) url() *url.URL {
	return &url.URL{Scheme: "sqlite", Opaque: url.PathEscape(filepath.Join(w.o.Dir, "remuda.db"))}
}

// Table opens a connection to the store of its own, whose calls are delayed and counted by m. The
// caller closes it.
func (w *World) Table(ctx context.Context, m *Meter) (store.Table, error) {
	table, err := w.openTable(ctx, m)
	if err != nil {
		return nil, err
	}
	return m.Count(w.o.Delay.slow(table)), nil
}

func (w *World) openTable(ctx context.Context, m *Meter) (store.Table, error) {
	if w.o.Backends == nil || w.o.Backends.Table == nil {
		return sqlitestore.Open(ctx, w.url(), clock.RealClock{})
	}
	who := Client
	switch m {
	case w.ByController:
		who = Controller
	case w.ByAgents:
		who = Agents
	}
	return w.o.Backends.Table(ctx, who)
}

func (w *World) openPool(ctx context.Context) (pool.Pool, error) {
	if w.o.Backends == nil || w.o.Backends.Pool == nil {
		return sqlitepool.Open(ctx, w.url(), clock.RealClock{})
	}
	return w.o.Backends.Pool(ctx)
}

// Class is the one resource class of a World.
const Class = "small"

// Config returns what the controller is configured with: the defaults, and room for every benchmark.
func (w *World) Config() reconciler.Config {
	c := reconciler.Defaults()
	c.Holder = "bench"
	c.Classes = map[string]reconciler.Class{Class: {CPU: 2, Mem: 4096}}
	c.MaxInstances = 1 << 20
	if w.o.Tune != nil {
		w.o.Tune(&c)
	}
	return c
}

// Run runs the controller, and an agent for every machine that is launched, until ctx ends. It returns
// after all of them, nil unless one failed.
func (w *World) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	on := func(m fleet.Machine) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.machines[m.ID] != nil || w.o.NoAgents {
			return // a repeated launch
		}
		ctx, off := context.WithCancel(ctx)
		w.machines[m.ID] = off
		g.Go(func() error { // Wait has not returned: the controller, which launches, still runs
			defer off()
			return w.machine(ctx, m)
		})
	}
	off := func(id string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if off := w.machines[id]; off != nil {
			off()
		}
	}
	var machines fleet.Fleet = w.Fleet
	if w.o.Backends == nil {
		w.Fleet.OnLaunch(on)
		w.Fleet.OnTerminate(off)
	} else {
		machines = powered{w.o.Backends.Fleet, on, off}
	}
	o := reconciler.Options{
		Config: w.Config(), Table: w.table, Pool: w.Pool, Fleet: machines, GitHub: w.Hub,
		Clock: clock.RealClock{}, Log: w.o.Log,
	}
	if w.o.Metrics != nil {
		o.Telemetry = reconciler.Telemetry{Queues: w.o.Metrics, Recorder: w.o.Metrics}
	}
	op, err := reconciler.New(o)
	if err != nil {
		return err
	}
	if w.o.Metrics != nil {
		w.o.Metrics.Watch(op)
	}
	g.Go(func() error { return op.Run(ctx) })
	return g.Wait()
}

// powered starts and stops what runs on the machines of a fleet.
type powered struct {
	fleet.Fleet
	on  func(fleet.Machine)
	off func(id string)
}

func (p powered) Launch(ctx context.Context, plan fleet.Plan) (fleet.Outcome, error) {
	out, err := p.Fleet.Launch(ctx, plan)
	for _, m := range out.Machines {
		p.on(m)
	}
	return out, err
}

func (p powered) Terminate(ctx context.Context, ids ...string) error {
	err := p.Fleet.Terminate(ctx, ids...)
	for _, id := range ids {
		p.off(id)
	}
	return err
}

// halt ends a machine from within.
func (w *World) halt(ctx context.Context, id string) error {
	if w.o.Backends != nil {
		return w.o.Backends.Fleet.Terminate(ctx, id)
	}
	w.Fleet.End(id)
	return nil
}

// machine is the life of a machine that boots at once: its agent, and runners that are online at once.
func (w *World) machine(ctx context.Context, m fleet.Machine) (err error) {
	dir := filepath.Join(w.o.Dir, m.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	table, err := w.Table(ctx, w.ByAgents)
	if err != nil {
		return fmt.Errorf("machine %s: %w", m.ID, err)
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	a, err := agent.New(agent.Options{
		Store: store.New(table), Principal: store.Principal(m.Principal), InstanceID: store.InstanceID(m.ID),
		Dir: dir, Exe: os.Args[0], Version: "bench", Clock: clock.RealClock{}, Log: w.o.Log,
		Runner: w.runner(), IdlePoll: w.o.Poll, Poll: w.o.Poll,
		Machine: &agenttest.Machine{HaltFunc: func(ctx context.Context, _ string) error { return w.halt(ctx, m.ID) }},
	})
	if err != nil {
		return err
	}
	if err := a.Run(ctx); err != nil && !errors.Is(err, agent.ErrHalted) {
		return err
	}
	return nil
}

// runner returns a runner program whose listeners have a session at GitHub as long as they live.
func (w *World) runner() *agenttest.Runner {
	var sessions sync.Map // by name
	return &agenttest.Runner{
		StartFunc: func(ctx context.Context, reg store.Registration, _ string) error {
			cred, err := githubsim.DecodeJIT(reg.Secret)
			if err != nil {
				return err
			}
			s, err := w.Hub.Connect(ctx, cred)
			if err != nil {
				return err
			}
			sessions.Store(reg.Name, s)
			return nil
		},
		OnOffline: func(name string) {
			if s, ok := sessions.LoadAndDelete(name); ok {
				s.(*githubsim.Session).Close()
			}
		},
	}
}
