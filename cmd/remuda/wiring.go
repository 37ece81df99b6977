package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/internal/tracing"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// backends are what a controller works with, and the controller.
type backends struct {
	table store.Table
	pool  pool.Pool
	fleet machinery
	op    *reconciler.Operator
	page  atomic.Pointer[page.Page]
	log   *slog.Logger

	github  *githubapi.Client // of op
	reload  *reloader         // nil: the configuration stays
	refused refusals          // of reload
	metrics *metrics.Metrics  // of op and its calls; nil of back ends alone
	traces  *tracing.Tracer   // nil: none
	prices  priced
}

// openBackends opens those back ends of cfg that are wanted, by their URLs. agentConfig is where the agents find
// their configuration. The caller closes them.
func (a *app) openBackends(
	ctx context.Context, cfg config.Config, agentConfig string, service *ec2machine.ServiceClock, log *slog.Logger, wanted func(raw string) bool,
) (*backends, error) {
	b := &backends{log: log}
	var err error
	if wanted(cfg.Store) {
		b.table, err = a.openObserved(ctx, cfg, service, "", log)
	}
	if err == nil && wanted(cfg.PoolURL()) {
		b.pool, err = openPool(ctx, cfg, a.clock, log)
	}
	if err == nil && wanted(cfg.Fleet) {
		b.fleet, err = a.openFleet(ctx, cfg, agentConfig, log)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// build opens the back ends that cfg names and the controller over them. through, unless nil, is what the controller
// reaches the fleet through. The caller closes them.
func (a *app) build(ctx context.Context, cfg config.Config, agentConfig string, log *slog.Logger, through func(fleet.Fleet) fleet.Fleet) (*backends, error) {
	counted := metrics.New(slices.Sorted(maps.Keys(cfg.Classes)))
	github, err := a.githubClient(cfg, log, counted.GitHubCalled)
	if err != nil {
		return nil, asUsage(err)
	}
	calling := awscfg.WithTold(ctx, counted.AWSCalled)
	cost, err := pricesOf(calling, cfg, a.clock, log)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read host name: %w", err)
	}
	service := ec2machine.NewServiceClock(a.clock)
	b, err := a.openBackends(calling, cfg, agentConfig, service, log, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	reached := b.fleet.Fleet
	if through != nil {
		reached = through(reached)
	}
	b.github, b.metrics = github, counted
	told := reconciler.Telemetry{Queues: counted, Recorder: counted}
	if b.traces, err = tracing.New(ctx, a.environ(), currentVersion().Version, log); err != nil {
		return nil, errors.Join(asUsage(err), b.close())
	}
	if b.traces != nil {
		told.Tracer = b.traces
	}
	settings := cfg.Controller(host + "-" + uuid.NewString()[:8])
	settings.Prices, b.prices = cost.prices, cost
	b.op, err = reconciler.New(reconciler.Options{
		Config: settings, Table: b.table, Pool: b.pool, Fleet: reached,
		GitHub: github, Runs: github, Chores: b.chores(a, cfg), Clock: a.clock, Offset: service.Offset, Log: log,
		Health:    healthOf(github, &b.refused),
		Telemetry: told,
	})
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	counted.Watch(b.op)
	counted.ConfigTaken(a.clock.Now(), 0)
	b.page.Store(newPage(a.clock, cfg, store.New(b.table), fromOperator(b.op, store.New(b.table))))
	return b, nil
}

// chores are what a controller with cfg keeps beside its records.
func (b *backends) chores(a *app, cfg config.Config) []reconciler.Chore {
	var chores []reconciler.Chore
	for _, r := range b.resources(cfg) {
		chores = append(chores, r.chore(b.log))
	}
	if program, runner := fromRelease(cfg); program || runner {
		chores = append(chores, b.releaseChore(a, cfg))
	}
	if b.prices.refresh != nil {
		chores = append(chores, reconciler.Chore{Name: "prices", Do: b.prices.refresh})
	}
	return append(chores, (&githubChore{github: b.github, metrics: b.metrics, version: cfg.Agent.Version(), clock: a.clock, log: b.log}).chore())
}

// metricsPath is where Prometheus looks unless it is told another.
const metricsPath = "/metrics"

// run works until ctx ends. The fleet outlives the controller, which may still end machines, and so does what shows it.
func (b *backends) run(ctx context.Context, a *app, w *web, before func(context.Context) error) error {
	systemd, err := a.newNotifier(b.op, b.log)
	if err != nil {
		return err
	}
	machines, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	if w != nil {
		w.options.Handlers[metricsPath] = b.metrics.Handler(b.log)
		w.options.Handlers[refusedPath] = &b.refused
		w.options.Handlers["/"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.page.Load().ServeHTTP(w, r) })
		g.Go(func() error { w.serve(machines, b.op); return nil })
	}
	if systemd != nil {
		g.Go(func() error { systemd.run(machines, ctx.Done()); return nil })
	}
	if b.reload != nil {
		b.reload.systemd = systemd
		g.Go(func() error { b.reload.run(ctx); return nil })
	}
	if b.fleet.run != nil {
		g.Go(func() error { return b.fleet.run(machines) })
	}
	g.Go(func() error {
		defer stop()
		err := stopped(ctx, b.op.Run(ctx))
		if before != nil {
			err = errors.Join(err, before(machines))
		}
		return err
	})
	return g.Wait()
}

// stopped returns nil for what failed only because ctx ended, which is how a daemon is meant to end.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lastTraces is how long the end of a controller waits for the receiver of traces. Stopping in order takes some seconds anyway.
const lastTraces = 3 * time.Second

func (b *backends) close() error {
	last, cancel := context.WithTimeout(context.Background(), lastTraces)
	defer cancel()
	b.traces.Close(last)
	var errs []error
	for _, opened := range []io.Closer{b.fleet.Fleet, b.pool, b.table} {
		if opened != nil {
			errs = append(errs, opened.Close())
		}
	}
	return errors.Join(errs...)
}

// agentConfigName is the file, in the fleet's folder, that gives agents their configuration.
const agentConfigName = "remuda.yaml"

// writeConfig stores the configuration for agents and for the other verbs: what differs from the defaults of this program,
// which they run too. It holds no secret. The file is replaced as a whole, and only if it differs.
func writeConfig(path string, c config.Config) error {
	out, err := config.Changed(c)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	have, err := os.ReadFile(path)
	if err == nil && bytes.Equal(have, out) {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, out, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// templateOf names what a machine launched now would run: this program, and of its configuration
// what agents go by. A changed cap or log level dismisses no warm machine.
func templateOf(exe string, c config.Config) (string, error) {
	config, err := yaml.Marshal(config.Config{Store: c.Store, Fleet: c.Fleet, GitHub: c.GitHub, Limits: c.Limits, Agent: c.Agent, Classes: c.Scrubbed()})
	if err != nil {
		return "", fmt.Errorf("encode agent configuration: %w", err)
	}
	info, err := os.Stat(exe)
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(config, "\n%d %d", info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:6]), nil
}
