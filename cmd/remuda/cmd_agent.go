package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/host"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

const agentLong = `Runs the agent of one instance: registers its runner for the run that owns it, cleans up
after it, reports, and ends the instance when its time is over.

The fleet starts it. An instance of a process fleet learns from environment variables which it is; one
of EC2 asks its metadata service.`

func newAgentCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent of one instance",
		Long:  agentLong,
		Args:  noArgs,
		RunE: a.configured(func(config.Config) error { return onLinux(a.system, "agent") }, func(ctx context.Context, cfg config.Config) error {
			return a.runAgent(ctx, cfg, dir)
		}),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`folder` of the instance: state, logs, runner")
	return exits(cmd)
}

// runAgent works until the instance ends, or ctx.
func (a *app) runAgent(ctx context.Context, cfg config.Config, dir string) error {
	p := host.Place{
		Config: cfg, Version: currentVersion().Version, Env: environment(a.environ()), Clock: a.clock, Log: a.logger(cfg.Log),
	}
	if err := p.Check(); err != nil {
		return asUsage(err)
	}
	if dir == "" {
		return usagef("--dir: must name the folder of the instance")
	}
	var err error
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("folder of the instance: %w", err)
	}
	if p.Exe, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	p.OpenTable = func(ctx context.Context, service *ec2machine.ServiceClock, region string) (store.Table, error) {
		return a.openObserved(ctx, cfg, service, region, p.Log)
	}
	return host.Run(ctx, p)
}

// newAgentHookCmd is what the runner calls before the first step of a job.
func newAgentHookCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    agent.HookCommand + " " + agent.HookStarted,
		Hidden: true,
		Args:   atMostOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != agent.HookStarted {
				return usagef("argument: must be %s, got %q", agent.HookStarted, args)
			}
			return agent.GuardJob(dir, a.environ(), a.clock)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`folder` of the instance")
	return exits(cmd)
}

// newAgentInitCmd is what the agent starts as the first process of a PID namespace.
func newAgentInitCmd(*app) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:    boundary.InitCommand,
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return boundary.Init(user, args) },
	}
	cmd.Flags().StringVar(&user, "user", "", "user of the command line, in JSON; default: this process's")
	return exits(cmd)
}
