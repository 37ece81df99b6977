package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/config"
)

const devLong = `Runs everything on this machine: store, pool, controller, and a fleet whose instances are
processes. Without github.url it brings a simulated GitHub and a simulated runner along;
"remuda dev submit" and "remuda dev jobs" work with its jobs, "remuda dev run" with runs of them.

It keeps everything in one folder, with the configuration that the other verbs need:

  remuda dev &
  export REMUDA_CONFIG=$PWD/.remuda/remuda.yaml
  remuda request --id 1 --count 2

A store, pool or fleet outside that folder is refused, whatever the environment names. When it has to
stop, it first ends the instances it launched, and no others.`

// devFolder is where `remuda dev` keeps everything unless --dir says otherwise.
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
			if err := onLinux(a.system, "dev"); err != nil {
				return err
			}
			cfg, err := a.loadConfig()
			if err != nil {
				return err
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			if err := errors.Join(o.complete(&cfg), o.admits(cfg.Config, exe), agentFiles(cfg.Config)); err != nil {
				return asUsage(err)
			}
			return o.run(cmd.Context(), a, cfg.Config)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", devFolder, "`folder` for everything")
	o.sim.flags(cmd.Flags())
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave the instances running at the end")
	cmd.AddCommand(newDevGitHubCmd(a), newDevSubmitCmd(a), newDevJobsCmd(a), newDevRunCmd(a))
	return exits(cmd, exitInterrupted)
}

func (o *devOptions) run(ctx context.Context, a *app, cfg config.Config) (err error) {
	unlock, err := lockDev(o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := o.admit(cfg); err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	if simulated(cfg) {
		serve, err := o.sim.start(a, &cfg)
		if err != nil {
			return err
		}
		g.Go(func() error { return serve(serving) })
	}
	g.Go(func() error {
		defer stop()
		return o.control(ctx, a, cfg)
	})
	return g.Wait()
}

// control runs the controller and the fleet until ctx ends.
func (o *devOptions) control(ctx context.Context, a *app, cfg config.Config) (err error) {
	log := a.logger(cfg.Log)
	w, err := a.openWeb(cfg.HTTP, log)
	if err != nil {
		return err
	}
	defer w.Close()
	shown := ""
	if w != nil {
		cfg.HTTP.Listen = w.address() // for the other verbs
		shown = "  live page: http://" + w.address() + "\n"
	}
	path := o.configFile()
	if err := writeConfig(path, cfg); err != nil {
		return err
	}
	own, err := openOwn(o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	b, err := a.build(ctx, cfg, path, log, func(f fleet.Fleet) fleet.Fleet {
		own.Fleet = f
		return own
	})
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { err = errors.Join(err, b.close()) }()
	fmt.Fprintf(a.err, "remuda dev: everything is in %s\n  export REMUDA_CONFIG=%s\n%s", o.dir, path, shown)
	end := func(ctx context.Context) error { return own.end(ctx, a) }
	if o.keep {
		end = nil
	}
	return b.run(ctx, a, w, end)
}

// configFile is the file that dev writes its configuration to.
func (o *devOptions) configFile() string { return filepath.Join(o.dir, agentConfigName) }
