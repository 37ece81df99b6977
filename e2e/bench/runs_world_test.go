package bench_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// bubble is an installation in a bubble of virtual time: the real controller, the client of GitHub that is shipped, and real agents
// on machines that boot at once. Store, pool, fleet and the simulated GitHub are in memory.
type bubble struct {
	t       *testing.T
	clock   clock.WithTicker
	table   store.Table
	store   *store.Store
	fleet   *fleettest.Memory
	hub     *githubsim.Hub
	calls   *meteredGitHub // of the controller
	looks   *countedRuns   // of the controller
	dir     string
	log     *slog.Logger
	running sync.WaitGroup

	mu  sync.Mutex
	off map[string]context.CancelFunc // machines that are on
}

// apiToken is the controller's credential.
const apiToken = "ghs_bench"

// newBubble starts an installation for runs of serves, owner or owner/name, that ends with the test. before prepares its GitHub.
func newBubble(t *testing.T, serves string, before func(*githubsim.Hub)) *bubble {
	t.Helper()
	dir, err := sim.Scratch()
	check(t, err)
	clk := clock.RealClock{} // which is the bubble's
	table, queue := storetest.NewMemory(clk), pooltest.NewMemory(clk)
	b := &bubble{
		t: t, clock: clk, table: table, store: store.New(table), fleet: fleettest.NewMemory(clk),
		hub: githubsim.New(githubsim.Options{Clock: clk}), dir: dir, log: slog.New(slog.DiscardHandler), off: map[string]context.CancelFunc{},
	}
	if os.Getenv("REMUDA_BENCH_LOG") != "" {
		b.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	before(b.hub)
	b.calls = &meteredGitHub{handler: githubsim.Handler(b.hub, apiToken), clock: clk}
	client, err := githubapi.New(githubapi.Options{
		URL: "https://github.invalid/" + serves, Clock: clk, HTTPClient: &http.Client{Transport: b.calls}, Log: b.log,
		Token: func(context.Context) (string, error) { return apiToken, nil },
	})
	check(t, err)
	b.looks = &countedRuns{Runs: client}
	ctx, cancel := context.WithCancel(context.Background())
	b.fleet.OnLaunch(func(m fleet.Machine) { b.boot(ctx, m) })
	b.fleet.OnTerminate(b.halt)
	cfg := reconciler.Defaults()
	cfg.Holder, cfg.Classes, cfg.MaxInstances = "bench", map[string]reconciler.Class{bench.Class: {CPU: 2, Mem: 4096}}, 1<<20
	cfg.Watch.Serves = serves
	op, err := reconciler.New(reconciler.Options{
		Config: cfg, Table: table, Pool: queue, Fleet: b.fleet, GitHub: client, Runs: b.looks, Clock: clk, Log: b.log,
	})
	check(t, err)
	b.running.Go(func() {
		if err := op.Run(ctx); err != nil {
			t.Errorf("controller: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		b.running.Wait()
		if err := errors.Join(queue.Close(), table.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return b
}

// boot runs the agent of a machine, and its runner.
func (b *bubble) boot(ctx context.Context, m fleet.Machine) {
	ctx, off := context.WithCancel(ctx)
	b.mu.Lock()
	b.off[m.ID] = off
	b.mu.Unlock()
	b.running.Go(func() {
		defer off()
		if err := b.machine(ctx, m); err != nil {
			b.t.Errorf("machine %s: %v", m.ID, err)
		}
	})
}

func (b *bubble) halt(id string) {
	b.mu.Lock()
	off := b.off[id]
	b.mu.Unlock()
	off()
}

func (b *bubble) machine(ctx context.Context, m fleet.Machine) error {
	dir := filepath.Join(b.dir, m.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	runner := agenttest.NewHubRunner(ctx, b.hub)
	defer runner.Wait()
	a, err := agent.New(agent.Options{
		Store: b.store, Principal: store.Principal(m.Principal), InstanceID: store.InstanceID(m.ID), Dir: dir, Exe: os.Args[0], Version: "bench",
		Clock: b.clock, Log: b.log, Runner: runner, IdlePoll: 5 * time.Second, // looks of hundreds of agents are most of the work
		Machine: &agenttest.Machine{HaltFunc: func(context.Context, string) error { b.fleet.End(m.ID); return nil }},
	})
	if err != nil {
		return err
	}
	if err := a.Run(ctx); err != nil && !errors.Is(err, agent.ErrHalted) {
		return err
	}
	return nil
}
