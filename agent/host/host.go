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
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/boundary"
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
	if err := boundary.Thaw(p.Dir); err != nil { // before anything that a service answers
		return err
	}
	if err := p.reachNetwork(); err != nil {
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
	if m.account().Credential != nil {
		if err := errors.Join(m.trustPath(), process.LimitJobs()); err != nil {
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
	cleaner := m.scrubber()
	cleaner.Refresh = func() (scrub.Scrubber, error) {
		err := m.lookUp()
		return m.scrubber(), err
	}
	computer := s.machine(cleaner)
	if m.boundary != nil {
		p.Log.Info("boundary of listeners chosen", logkey.Detail, m.boundary.Name())
	}
	cfg := p.Config
	options := agent.Options{
		InstanceID: store.InstanceID(s.id), Dir: p.Dir, Exe: p.Exe,
		Repository: cfg.GitHub.Serves(), Version: p.Version, Clock: p.Clock, Log: p.Log,
		HookSocket: true, Runner: runner, Machine: computer, Script: m.script(), Prefetch: m.prefetch,
		Refusal:      refusal(cleaner, p.Log),
		BootDeadline: cfg.Limits.Created, Grace: cfg.Limits.AgentGrace, Beat: cfg.Limits.Beat, IdleBeat: statemachine.Limits(cfg.Limits).IdleBeat(),
		IdlePoll: cfg.Agent.IdlePoll, Poll: cfg.Agent.Poll,
		Mask:       cfg.Agent.Patterns(),
		CleanLimit: cfg.Limits.Handshake * 5 / 6, // the rest is for the report
	}
	if s.logs != nil {
		options.KeepOutput = func(ctx context.Context, reason string, secrets []string) error {
			l := machinelog.Log{InstanceID: s.id, TakenAt: p.Clock.Now().UTC(), Reason: reason, Sources: machinelog.Read(p.Dir, cfg.Agent.Patterns(), secrets...)}
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

// refusal is Scrubber.Refusal, which also logs what it says the first time for each class.
func refusal(s scrub.Scrubber, log *slog.Logger) func(class string) string {
	logged := map[string]bool{}
	return func(class string) string {
		why := s.Refusal(class)
		if why != "" && !logged[class] {
			logged[class] = true
			log.Error("runs of this class are refused", logkey.Class, class, logkey.Reason, why)
		}
		return why
	}
}

// slimEvery is between two times that memory is given back, which takes some milliseconds; the first time is slimFirst after
// the start. reapPause gathers the ends of many processes.
const (
	slimFirst = 30 * time.Second
	slimEvery = 5 * time.Minute
	reapPause = 100 * time.Millisecond
)

// garbage is how much an idle agent, which uses some 3 MB, may add to that before it is collected, in percent; Go's default is 100.
const garbage = 25

// tidy reads the status of adopted processes when they end, until ctx ends, and gives memory back.
func tidy(ctx context.Context, clk clock.WithTicker, log *slog.Logger) {
	debug.SetGCPercent(garbage)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	due := clk.After(slimFirst)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			if err := process.Reap(); err != nil {
				log.Warn("the status of ended processes could not be collected", logkey.Error, err)
			}
			select {
			case <-ctx.Done():
			case <-clk.After(reapPause):
			}
		case <-due:
			due = clk.After(slimEvery)
			if err := slim(); err != nil {
				log.Info("memory could not be given back", logkey.Error, err)
			}
		}
	}
}
