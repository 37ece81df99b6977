// Package host is the computer under the agent, or the part of it that is one instance's.
//
// It makes the instance's folders, and before the first job the runner's program, the baseline and the firewall around
// instance metadata. Of each it does all or nothing, again and again until it is done: the agent asks for them, may end
// meanwhile, and is started anew. What differs by fleet is a site. It reads no global but the files of the computer, and
// sets two: the PATH of this process, where jobs may write into a folder of it, and how much garbage it keeps.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Place is where an agent works: the folder and the environment that it was started in, and what its program brings
// along. All fields are required.
type Place struct {
	Config  config.Config
	Dir     string            // folder of the instance, absolute
	Exe     string            // this program, absolute
	Version string            // of this program, for heartbeats
	Env     map[string]string // the process's
	Clock   clock.WithTicker
	Log     *slog.Logger
	// OpenTable opens the store of Config. Where that is a service of AWS, service reads its clock, and region is its
	// region unless the URL names another. The caller closes the table.
	OpenTable func(ctx context.Context, service *ec2machine.ServiceClock, region string) (store.Table, error)
}

// site is what differs between agents of different fleets.
type site struct {
	id      string // of the instance
	machine func(scrub.Scrubber) agent.Machine
	whole   bool                              // the computer is the instance's alone
	cache   string                            // folder for archives of the runner
	image   string                            // folder where the computer's image may have the runner; "": it has none
	others  []string                          // folders of other instances
	ends    func(agent.Machine, *slog.Logger) // ends what the agent leaves when it was told to stop; nil: that is for the next agent
	options func(*agent.Options)              // adds what only this fleet's agents need
	logs    machinelog.Store                  // outlives the instance; nil: there is none
	close   func() error
}

// sites prepare the place that an agent works in, by the scheme of its fleet, whose URL may name it.
var sites = map[string]func(ctx context.Context, p Place, name string) (site, error){"process": processSite, "ec2": ec2Site}

// fleet is the URL of the fleet, for which there are agents.
func (p Place) fleet() (*url.URL, error) {
	u, err := url.Parse(p.Config.Fleet)
	switch {
	case err != nil:
		return nil, fmt.Errorf("fleet: %w", err)
	case sites[u.Scheme] == nil:
		return nil, fmt.Errorf("fleet: no agent for scheme %q", u.Scheme)
	case u.Scheme == "process" && p.Env[procfleet.EnvInstance] == "":
		return nil, fmt.Errorf("$%s: must name the instance; a fleet sets it", procfleet.EnvInstance)
	}
	return u, nil
}

// Check reports what keeps an agent from working in a place, as far as those who started it can repair it.
func (p Place) Check() error {
	_, err := p.fleet()
	return err
}

// Run works until the instance ends, or ctx. An agent of a process fleet is ended with its instance,
// so being told to stop ends the instance too.
func Run(ctx context.Context, p Place) (err error) {
	fleet, err := p.fleet()
	if err != nil {
		return err
	}
	s, err := sites[fleet.Scheme](ctx, p, fleet.Host)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m, err := newMachine(p, s)
	if err != nil {
		return err
	}
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
	var tidier sync.WaitGroup
	defer tidier.Wait()
	defer cancel()
	tidier.Go(func() { tidy(ctx, p.Clock, p.Log) })
	computer := s.machine(m.scrubber())
	cfg := p.Config
	options := agent.Options{
		InstanceID: store.InstanceID(s.id), Dir: p.Dir, Exe: p.Exe,
		Repository: cfg.GitHub.Serves(), Version: p.Version, Clock: p.Clock, Log: p.Log,
		HookSocket: true, Runner: runner, Machine: computer, Script: m.script(), Prefetch: m.prefetch,
		BootDeadline: cfg.Limits.Created, Grace: cfg.Limits.AgentGrace, Beat: cfg.Limits.Beat, IdleBeat: statemachine.Limits(cfg.Limits).IdleBeat(),
		IdlePoll: cfg.Agent.IdlePoll, Poll: cfg.Agent.Poll,
		CleanLimit: cfg.Limits.Handshake * 5 / 6, // the rest is for the report
	}
	if s.logs != nil {
		options.KeepOutput = func(ctx context.Context, reason string, secrets []string) error {
			l := machinelog.Log{InstanceID: s.id, TakenAt: p.Clock.Now().UTC(), Reason: reason, Sources: machinelog.Read(p.Dir, secrets...)}
			return s.logs.Put(ctx, l)
		}
	}
	s.options(&options)
	ag, err := agent.New(options)
	if err != nil {
		return err
	}
	err = ag.Run(ctx)
	if s.ends != nil {
		s.ends(computer, p.Log)
	}
	if errors.Is(err, agent.ErrHalted) {
		return nil
	}
	return err
}

// reapEvery is between two looks for adopted processes that ended. One costs some 20 µs per process of
// the computer, far below the agent's share of a processor (docs/goals.md, G15). slimEvery is between two times that memory
// is given back, which takes some milliseconds.
const (
	reapEvery = 30 * time.Second
	slimEvery = 5 * time.Minute
)

// garbage is how much an idle agent, which uses some 3 MB, may add to that before it is collected, in percent; Go's default is 100.
const garbage = 25

// tidy reads the status of adopted processes until ctx ends, and gives memory back.
func tidy(ctx context.Context, clk clock.WithTicker, log *slog.Logger) {
	debug.SetGCPercent(garbage)
	var r process.Reaper
	ticker := clk.NewTicker(reapEvery)
	defer ticker.Stop()
	var slimmed time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			if err := r.Reap(); err != nil {
				log.Warn("the status of ended processes could not be collected", logkey.Error, err)
			}
			if now := clk.Now(); now.Sub(slimmed) >= slimEvery {
				slimmed = now
				if err := slim(); err != nil {
					log.Info("memory could not be given back", logkey.Error, err)
				}
			}
		}
	}
}
