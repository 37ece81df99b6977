package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/fleet"
)

const devLong = `Runs everything on this machine: store, pool, controller, and a fleet whose instances are
processes. Without github.url it brings a simulated GitHub and a simulated runner along;
"remuda dev submit" and "remuda dev jobs" work with its jobs.

It keeps everything in one folder, with the configuration that the other verbs need:

  remuda dev &
  export REMUDA_CONFIG=$PWD/.remuda/remuda.yaml
  remuda request --id 1 --count 2

When it is told to stop, it ends its instances first.`

// devFolder is where `remuda dev` keeps everything unless told otherwise.
const devFolder = ".remuda"

// devOptions are the flags of `remuda dev`.
type devOptions struct {
	dir  string
	keep bool
	sim  simOptions
}

func newDevCmd(a *app) *cobra.Command {
	o := &devOptions{sim: simOptions{prefix: "github-"}}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine",
		Long:  devLong,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig()
			if err != nil {
				return err
			}
			if err := o.complete(&cfg); err != nil {
				return asUsage(err)
			}
			return o.run(cmd.Context(), a, cfg.Config)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", devFolder, "`folder` for everything")
	o.sim.flags(cmd.Flags())
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave the instances running at the end")
	cmd.AddCommand(newDevGitHubCmd(a), newDevSubmitCmd(a), newDevJobsCmd(a))
	return exits(cmd, exitInterrupted)
}

// complete puts store and fleet into the folder, unless they were set.
func (o *devOptions) complete(cfg *loadedConfig) error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	o.dir = dir
	if cfg.isDefault("store") {
		cfg.Store = "sqlite://" + filepath.Join(dir, "remuda.db")
	}
	if cfg.isDefault("fleet") {
		cfg.Fleet = "process://" + filepath.Join(dir, "instances")
	}
	return o.sim.validate()
}

// isDefault reports whether nobody set key.
func (l loadedConfig) isDefault(key string) bool {
	o, known := l.origins[key]
	return !known || o.kind == "default"
}

func (o *devOptions) run(ctx context.Context, a *app, cfg Config) (err error) {
	log, err := a.logger(cfg.Log)
	if err != nil {
		return asUsage(err)
	}
	unlock, err := lockDev(o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	if cfg.simulated() {
		serve, err := o.sim.start(a, &cfg)
		if err != nil {
			return err
		}
		g.Go(func() error { return serve(serving) })
		a.setenv(simTokenEnv, simToken)
	}
	g.Go(func() error {
		defer stop()
		return o.control(ctx, a, cfg, log)
	})
	return g.Wait()
}

// devLock is the file in the folder that shows by its lock that a dev runs there, and says which.
const devLock = "dev.lock"

// lockDev makes sure that no other dev works in dir: the second would send the first one's machines to
// a GitHub of its own, and end them with itself. The lock ends with the process.
func lockDev(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("start dev: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, devLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start dev: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		owner, _ := io.ReadAll(io.LimitReader(file, 32)) // for people: the lock decides
		err = fmt.Errorf("another remuda dev works there (process %s); stop it or choose another --dir", cmp.Or(string(owner), "unknown"))
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprint(file, os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start dev in %s: %w", dir, err), file.Close())
	}
	return file.Close, nil
}

// control runs the controller and the fleet until ctx ends.
func (o *devOptions) control(ctx context.Context, a *app, cfg Config, log *slog.Logger) error {
	path := filepath.Join(o.dir, agentConfigName)
	if err := writeConfig(path, cfg); err != nil {
		return err
	}
	p, err := a.build(ctx, cfg, path, log)
	if err != nil {
		return stopped(ctx, err)
	}
	fmt.Fprintf(a.err, "remuda dev: everything is in %s\n  export REMUDA_CONFIG=%s\n", o.dir, path)
	end := func(ctx context.Context) error { return o.end(ctx, a, p) }
	if o.keep {
		end = nil
	}
	return errors.Join(p.run(ctx, end), p.close())
}

// endLimit bounds the wait for instances to end when dev stops.
const endLimit = 30 * time.Second

// end terminates every instance and waits until none is left, so that nothing outlives dev.
func (o *devOptions) end(ctx context.Context, a *app, p *plant) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	for told := false; ; told = true {
		machines, err := p.fleet.List(ctx, "")
		if err != nil {
			return fmt.Errorf("end instances: %w", err)
		}
		var ids []string
		for _, m := range machines {
			if m.State != fleet.Ended {
				ids = append(ids, m.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		if !told {
			fmt.Fprintf(a.err, "remuda dev: ending %s\n", plural(len(ids), "instance"))
			if err := p.fleet.Terminate(ctx, ids...); err != nil {
				return fmt.Errorf("end instances: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end instances: %d still live after %s", len(ids), endLimit)
		case <-a.clock.After(50 * time.Millisecond):
		}
	}
}

// setenv adds a variable to what this program takes for its environment.
func (a *app) setenv(name, value string) {
	environ := a.environ
	a.environ = func() []string { return append(environ(), name+"="+value) }
}
