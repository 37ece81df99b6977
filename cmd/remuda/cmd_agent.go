package main

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

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/host"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

const agentLong = `Runs the agent of one instance: registers its runner for the run that owns it, cleans up
after it, reports, and ends the instance when its time is over.

The fleet starts it. An instance of a process fleet is told by environment variables which it is; one
of EC2 asks its metadata service.`

// agentOptions are the flags of `remuda agent`.
type agentOptions struct{ dir string }

func newAgentCmd(a *app) *cobra.Command {
	o := &agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent of one instance",
		Long:  agentLong,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig()
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, cfg.Config)
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "`folder` of the instance: state, logs, runner")
	return exits(cmd)
}

// site is what differs between agents of different fleets.
type site struct {
	id      string // of the instance
	machine func(scrub.Scrubber) agent.Machine
	whole   bool                              // the computer is the instance's alone
	cache   string                            // folder for archives of the runner
	others  []string                          // folders of other instances
	ends    func(agent.Machine, *slog.Logger) // ends what the agent leaves when it was told to stop; nil: that is for the next agent
	options func(*agent.Options)              // adds what only this fleet's agents need
	close   func() error
}

// sites prepare the place that an agent works in, by the scheme of its fleet.
var sites = map[string]func(ctx context.Context, a *app, cfg config.Config, dir string, log *slog.Logger) (*site, error){
	"process": processSite,
	"ec2":     ec2Site,
}

// run works until the instance ends, or ctx. An agent of a process fleet is ended with its instance,
// so being told to stop ends the instance too.
func (o *agentOptions) run(ctx context.Context, a *app, cfg config.Config) (err error) {
	u, err := url.Parse(cfg.Fleet)
	if err != nil {
		return asUsage(fmt.Errorf("fleet: %w", err))
	}
	open, ok := sites[u.Scheme]
	if !ok {
		return usagef("fleet: no agent for scheme %q", u.Scheme)
	}
	log, err := a.logger(cfg.Log)
	if err != nil {
		return asUsage(err)
	}
	if o.dir == "" {
		return usagef("--dir: must name the folder of the instance")
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return fmt.Errorf("folder of the instance: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s, err := open(ctx, a, cfg, dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m, err := newMachine(a, cfg, s.id, dir, exe)
	if err != nil {
		return err
	}
	m.whole, m.cache, m.others, m.log = s.whole, s.cache, s.others, log
	m.system = environment(a.environ())[rootEnv]
	if m.account.Credential != nil {
		if err := m.trustPath(); err != nil {
			return err
		}
	}
	runner, err := m.runner()
	if err != nil {
		return err
	}
	if err := process.AdoptOrphans(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var reaper sync.WaitGroup
	defer reaper.Wait()
	defer cancel()
	reaper.Go(func() { a.reap(ctx, log) })
	computer := s.machine(m.scrubber())
	options := agent.Options{
		InstanceID: store.InstanceID(s.id), Dir: dir, Exe: exe,
		Repository: cfg.GitHub.Serves(), Version: currentVersion().Version, Clock: a.clock, Log: log,
		Runner: runner, Machine: computer, Script: m.script(), Prefetch: m.prefetch,
		BootDeadline: cfg.Limits.Created, Grace: cfg.Limits.AgentGrace, Beat: cfg.Limits.Beat,
		IdlePoll: cfg.Agent.IdlePoll, Poll: cfg.Agent.Poll,
		CleanLimit: cfg.Limits.Handshake * 5 / 6, // the rest is for the report
	}
	s.options(&options)
	ag, err := agent.New(options)
	if err != nil {
		return err
	}
	err = ag.Run(ctx)
	if s.ends != nil {
		s.ends(computer, log)
	}
	if errors.Is(err, agent.ErrHalted) {
		return nil
	}
	return err
}

// reapEvery is between two looks for adopted processes that ended. One costs some 20 µs per process of
// the computer, far below the agent's share of a processor (docs/goals.md, G15).
const reapEvery = 30 * time.Second

// reap reads the status of adopted processes until ctx ends.
func (a *app) reap(ctx context.Context, log *slog.Logger) {
	var r process.Reaper
	ticker := a.clock.NewTicker(reapEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			if err := r.Reap(); err != nil {
				log.Warn("ended processes not reaped", logkey.Error, err)
			}
		}
	}
}

// leaveLimit bounds the end of what an agent of a process fleet leaves; its fleet ends the rest.
const leaveLimit = 3 * time.Second

// endProcesses ends what the agent started and cannot be known by its mark.
func endProcesses(m agent.Machine, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	if err := m.Halt(ctx, "agent ended"); err != nil {
		log.Error("processes of the instance not ended", logkey.Error, err)
	}
}

// processSite is an instance of a process fleet, which told its agent who it is.
func processSite(ctx context.Context, a *app, cfg config.Config, dir string, log *slog.Logger) (*site, error) {
	env := environment(a.environ())
	id := env[procfleet.EnvInstance]
	if id == "" {
		return nil, usagef("$%s: must name the instance; a fleet sets it", procfleet.EnvInstance)
	}
	if cfg.Agent.RunnerUser != "" {
		if err := letThrough(dir); err != nil {
			return nil, err
		}
	}
	table, err := openTable(ctx, cfg, a.clock, log)
	if err != nil {
		return nil, err
	}
	fleet := filepath.Dir(filepath.Dir(dir))
	return &site{
		id: id,
		machine: func(s scrub.Scrubber) agent.Machine {
			return host.Process{Scrubber: s, Notice: env[procfleet.EnvInterruption]}
		},
		options: func(o *agent.Options) { o.Store, o.Principal = store.New(table), store.Principal(id) },
		close:   table.Close,
		cache:   filepath.Join(fleet, "runners"), // beside the fleet's other folders
		others:  []string{fleet},
		ends:    endProcesses,
	}, nil
}

// letThrough opens the way to an instance's folder: its fleet's folders, which are closed to others, may
// be passed and listed, since the runner program insists that it can list every folder above its own
// (actions/runner, src/Runner.Sdk/Util/IOUtil.cs, ValidateExecutePermission). Files stay closed.
func letThrough(dir string) error {
	for range 3 { // instance, instances, fleet
		info, err := os.Stat(dir)
		if err == nil {
			err = os.Chmod(dir, info.Mode().Perm()|0o055)
		}
		if err != nil {
			return fmt.Errorf("let agent.runnerUser into the folder of its instance: %w", err)
		}
		dir = filepath.Dir(dir)
	}
	return nil
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
