package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// machine is the part of this computer that one instance may use: of a process fleet one folder of
// many, on EC2 all of it.
type machine struct {
	Place
	site
	known      atomic.Pointer[actionsrunner.Account] // of the runner, from the last lookup; nil: the agent's user
	bound      bool                                  // the instance's home is bound over the account's home
	home, path string                                // of the operator's scripts; set with account
	open       []string                              // folders of PATH that are not in path, because jobs could put programs there
	firewall   ec2machine.Firewall                   // on EC2; set with account
	boundary   boundary.Boundary                     // of the listeners; nil: no boundary
	noBoundary error                                 // why there is no boundary

	installing *semaphore.Weighted   // of one: held while the runner is installed
	measuring  *semaphore.Weighted   // the same, while the baseline is taken
	prepared   chan struct{}         // closed once the operator's script has succeeded, or there is none
	trouble    atomic.Pointer[error] // why the runner is not fetched yet
}

// Folders of an instance, in its own.
const (
	runnerFolder = machinelog.RunnerDir
	homeFolder   = "home"
	tempFolder   = "tmp"
	scriptFolder = "script-tmp" // the operator's scripts' alone
)

// newMachine makes the folders of an instance. Those that the runner writes belong to its user.
func newMachine(p Place, s site) (*machine, error) {
	m := &machine{
		Place: p, site: s,
		installing: semaphore.NewWeighted(1), measuring: semaphore.NewWeighted(1), prepared: make(chan struct{}),
	}
	if p.Config.Agent.Script == "" {
		close(m.prepared)
	}
	err := m.lookUp()
	if err == nil && m.account().Credential != nil {
		err = errors.Join(m.keepFromMetadata(), m.keepApart())
	}
	if err == nil {
		err = m.makeFolders()
	}
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", s.id, err)
	}
	m.boundary, m.noBoundary = boundary.Open(s.id, p.Exe)
	return m, nil
}

// give hands path to the runner's user, if it has one of its own.
func (m *machine) give(path string, chown func(path string, uid, gid int) error) error {
	c := m.account().Credential
	if c == nil {
		return nil
	}
	return chown(path, int(c.Uid), int(c.Gid))
}

// runner returns the runner, which is installed when it is needed.
func (m *machine) runner() (agent.Runner, error) {
	return actionsrunner.New(actionsrunner.Options{
		Dir: filepath.Join(m.Dir, runnerFolder), Log: filepath.Join(m.Dir, machinelog.RunnerFile), World: m.world, InstanceID: m.id,
		Hook: filepath.Join(m.Dir, agent.HookFile), Verdicts: filepath.Join(m.Dir, agent.VerdictFile),
		Clock: m.Clock, Boundary: m.boundary, Prepare: m.prepare, Guard: m.guard,
		Group: m.Config.GitHub.RunnerGroup,
	})
}

// prepare makes the machine ready for its first runner.
func (m *machine) prepare(ctx context.Context) error {
	if err := m.measure(ctx); err != nil {
		return err
	}
	return m.install(ctx)
}

// measure takes the baseline, unless it is taken. A caller that comes while another is at it waits: no job runs before.
func (m *machine) measure(ctx context.Context) error {
	err := m.measuring.Acquire(ctx, 1)
	if err == nil {
		defer m.measuring.Release(1)
		if err = m.lookUp(); err == nil {
			err = m.scrubber().TakeBaseline(ctx)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // it takes longer than a start may, which passes
		return fmt.Errorf("take baseline of %s: %w: still at it: %w", m.id, githubapi.ErrUnavailable, context.Cause(ctx))
	default:
		return fmt.Errorf("%w: %w", agent.ErrUnfit, err)
	}
}

// guard makes sure before each registration that it, and the role's credentials, stay where they belong.
func (m *machine) guard(ctx context.Context) error {
	wanted := m.Config.Agent.MetadataFirewall == config.FirewallEverywhere || m.whole && m.Config.Agent.MetadataFirewall == config.FirewallRequired
	if !wanted || m.account().Credential == nil {
		return nil
	}
	if err := m.firewall.Ensure(ctx); err != nil {
		return fmt.Errorf("%w: %w", agent.ErrUnfit, err)
	}
	return nil
}

// keepFromMetadata finds out whom the rule of agent.metadataFirewall is about.
func (m *machine) keepFromMetadata() error {
	m.firewall.Try = ec2machine.TryAs
	m.firewall.Barred = []int{int(m.account().Credential.Uid), ec2machine.LastUser}
	for _, name := range m.Config.Agent.MetadataUsers {
		exempt, err := actionsrunner.Lookup(name)
		if err == nil && exempt.Credential.Uid == m.account().Credential.Uid {
			err = errors.New("must not be the user of jobs")
		}
		if err != nil {
			return fmt.Errorf("agent.metadataUsers: %w", err)
		}
		m.firewall.Exempt = append(m.firewall.Exempt, int(exempt.Credential.Uid))
	}
	return nil
}

// prefetch does before it is needed what takes long: it installs the runner and, once the operator's script has
// made the machine what it is, walks through its file system.
func (m *machine) prefetch(ctx context.Context) {
	var walk sync.WaitGroup
	defer walk.Wait()
	walk.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-m.prepared:
		}
		if err := m.measure(ctx); err != nil && ctx.Err() == nil {
			m.Log.Error("the machine's baseline could not be taken", logkey.Error, err)
		}
	})
	if err := m.install(ctx); err != nil && ctx.Err() == nil {
		m.Log.Error("the runner could not be installed", logkey.Error, err)
	}
}
