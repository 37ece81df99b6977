package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/remuda-run/remuda/agent/host"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// openFleet opens the fleet that c names. The caller closes it.
func (a *app) openFleet(ctx context.Context, c config.Config, agentConfig string, log *slog.Logger) (machinery, error) {
	u, open, err := byScheme("fleet", c.Fleet, fleets)
	if err != nil {
		return machinery{}, err
	}
	return open(ctx, a, u, c, agentConfig, log)
}

// openProcess opens the process fleet whose machines run this program's agent.
func openProcess(ctx context.Context, a *app, u *url.URL, c config.Config, agentConfig string, log *slog.Logger) (machinery, error) {
	exe, err := os.Executable()
	if err != nil {
		return machinery{}, fmt.Errorf("find this program: %w", err)
	}
	template, err := templateOf(exe, c)
	if err != nil {
		return machinery{}, err
	}
	types := make([]procfleet.TypeInfo, 0, len(c.Process.Types))
	for _, t := range c.Process.Types {
		types = append(types, procfleet.TypeInfo{Name: t.Name, CPU: t.CPU, Mem: t.Mem})
	}
	env := a.agentEnv(c)
	var mask atomic.Pointer[machinelog.Patterns]
	mask.Store(new(c.Agent.Patterns()))
	f, err := procfleet.Open(ctx, u, procfleet.Options{
		Command: func(_, dir string) ([]string, []string) {
			return []string{exe, "agent", "--config", agentConfig, "--dir", dir}, env
		},
		TemplateVersion: template, Mask: func() machinelog.Patterns { return *mask.Load() }, Clock: a.clock, Log: log, Types: types,
		Capacity: c.Process.Capacity, SpotCapacity: c.Process.SpotCapacity, BootDelay: c.Process.BootDelay, RefusalRate: c.Process.RefusalRate,
		MeanLife: c.Process.LossAfter, NoticeAfter: c.Process.NoticeAfter, NoticeLead: c.Process.NoticeLead,
		BootJitter: c.Process.BootJitter, Seed: c.Process.Seed,
		TerminateGrace: c.Process.TerminateGrace,
	})
	if err != nil {
		return machinery{}, err
	}
	return machinery{f, f.Run, func(_ context.Context, c config.Config) (fleet.Fleet, func(), error) {
		template, err := templateOf(exe, c)
		return f, func() { f.SetTemplateVersion(template); mask.Store(new(c.Agent.Patterns())) }, err
	}}, nil
}

// agentFiles reports what the agents of a process fleet would miss on this machine: every request would pay for it.
func agentFiles(c config.Config) error {
	if !config.HasScheme(c.Fleet, []string{"process"}) {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		field, path string
		folder      bool
	}{{"agent.script", c.Agent.Script, false}, {"agent.scrub", c.Agent.Scrub, false}, {"agent.runnerDir", c.Agent.RunnerDir, true}} {
		what := "file"
		if f.folder {
			what = "folder"
		}
		if f.path == "" {
			continue
		}
		if info, err := os.Stat(f.path); err != nil || info.IsDir() != f.folder || !f.folder && !info.Mode().IsRegular() {
			errs = append(errs, errors.Join(fmt.Errorf("%s: must be a %s of this machine, got %q", f.field, what, f.path), err))
		} else if !f.folder {
			errs = append(errs, runnable(f.field, f.path, info))
		}
	}
	return errors.Join(errs...)
}

// agentEnv is the environment of an agent on this machine. It reaches a store on AWS as we do.
func (a *app) agentEnv(c config.Config) []string {
	env := []string{"PATH=" + environment(a.environ())["PATH"], "LANG=C.UTF-8"}
	if root := environment(a.environ())[host.RootEnv]; root != "" {
		env = append(env, host.RootEnv+"="+root)
	}
	network := config.Network(environment(a.environ()))
	for _, name := range slices.Sorted(maps.Keys(network)) {
		env = append(env, name+"="+network[name])
	}
	if config.HasScheme(c.Store, []string{"dynamodb"}) {
		for _, e := range a.environ() {
			if strings.HasPrefix(e, "AWS_") || strings.HasPrefix(e, "HOME=") { // HOME: the shared configuration
				env = append(env, e)
			}
		}
	}
	return env
}
