package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
)

const controllerLong = `Runs the controller: serves requests, keeps the pool, ends what is no longer needed.

Any number may run on one store; the lease makes one of them active and the others wait.

A changed configuration file is taken up while it runs, and on SIGHUP at once, with the scripts it
names: classes, caps, limits and what else docs/config.md says so of. It keeps the lease, and runs
keep their machines. The log names settings that need a restart. What is wrong changes nothing.`

func newControllerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller",
		Long:  controllerLong,
		Args:  noArgs,
		RunE:  a.configured(func(cfg config.Config) error { return controllable(a.system, cfg) }, a.runController),
	}
	return exits(cmd, exitInterrupted)
}

// controllable reports what a controller would miss in a valid configuration.
func controllable(system string, cfg config.Config) error {
	if cfg.GitHub.URL == "" {
		return errors.New("github.url: must be set, such as https://github.com/owner/name; `remuda dev` simulates GitHub")
	}
	if config.HasScheme(cfg.Fleet, []string{"process"}) {
		if err := onLinux(system, "controller: fleet process://"); err != nil {
			return err
		}
	}
	return agentFiles(cfg)
}

// runController works until ctx ends, which is how it is meant to end.
func (a *app) runController(ctx context.Context, cfg config.Config) (err error) {
	hup, quit := a.hangups() // from the beginning: it ends a process that does not ask for it
	defer quit()
	log, end, err := shippedLogger(ctx, a, cfg)
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() { end(err) }()
	folder, err := localPath(cfg.Fleet)
	if err != nil {
		return asUsage(err)
	}
	w, err := a.openWeb(cfg.HTTP, log)
	if err != nil {
		return err
	}
	defer w.Close()
	agentConfig := "" // the machines of other fleets bring their own
	if folder != "" {
		agentConfig = filepath.Join(folder, agentConfigName)
		if err := writeConfig(agentConfig, cfg); err != nil {
			return err
		}
	}
	b, err := a.build(ctx, cfg, agentConfig, log, nil)
	if err != nil {
		return stopped(ctx, err)
	}
	defer func() {
		if err := b.close(); err != nil {
			log.Error("closing the store, pool or fleet failed", logkey.Error, err)
		}
	}()
	b.reload = newReloader(a, b, cfg, agentConfig, hup)
	return b.run(ctx, a, w, nil)
}
