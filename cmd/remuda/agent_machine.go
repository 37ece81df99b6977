package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/internal/writable"
)

// machine is the part of this computer that one instance may use: of a process fleet one folder of
// many, on EC2 all of it.
type machine struct {
	a            *app
	cfg          config.Config
	id, dir, exe string
	env          []string              // of everything that runs on it
	account      actionsrunner.Account // of the runner; zero: the agent's
	home, path   string                // of the operator's scripts, with account
	open         []string              // folders of PATH that are not in path: jobs could put programs there
	firewall     ec2machine.Firewall   // on EC2, with account
	whole        bool                  // the computer is this instance's alone
	others       []string              // folders of other instances
	system       string                // root of the file system that is scrubbed; "": /
	cache        string                // folder for archives of the runner
	log          *slog.Logger

	installing chan struct{} // holds one value while somebody installs the runner
	measuring  chan struct{} // likewise, takes the baseline
	prepared   chan struct{} // closed once the operator's script has succeeded, or there is none
	mu         sync.Mutex
	trouble    error // why the runner is not fetched yet
}

// Folders of an instance, in its own.
const (
	runnerFolder = "runner"
	homeFolder   = "home"
	tempFolder   = "tmp"
	scriptFolder = "script-tmp" // the operator's scripts' alone
)

// newMachine makes the folders of an instance. Those that the runner writes belong to its user.
func newMachine(a *app, cfg config.Config, id, dir, exe string) (*machine, error) {
	m := &machine{
		a: a, cfg: cfg, id: id, dir: dir, exe: exe,
		installing: make(chan struct{}, 1), measuring: make(chan struct{}, 1), prepared: make(chan struct{}), log: slog.New(slog.DiscardHandler),
	}
	if cfg.Agent.Script == "" {
		close(m.prepared)
	}
	if name := cfg.JobsUser(); name != "" {
		var err error
		if m.account, err = actionsrunner.Lookup(name); err != nil {
			return nil, fmt.Errorf("prepare %s: agent.runnerUser: %w", id, err)
		}
		if err := errors.Join(m.keepFromMetadata(), m.keepApart()); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", id, err)
		}
	}
	for _, name := range []string{homeFolder, tempFolder} {
		folder := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(folder, 0o700), m.give(folder, os.Lchown)); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", id, err)
		}
	}
	m.env = []string{
		"PATH=" + environment(a.environ())["PATH"], "LANG=C.UTF-8", agent.EnvMarker + "=" + id,
		"HOME=" + filepath.Join(dir, homeFolder), "TMPDIR=" + filepath.Join(dir, tempFolder),
	}
	return m, nil
}

// give hands path to the runner's user, if it has one of its own.
func (m *machine) give(path string, chown func(path string, uid, gid int) error) error {
	if m.account.Credential == nil {
		return nil
	}
	return chown(path, int(m.account.Credential.Uid), int(m.account.Credential.Gid))
}

// runner returns the runner, which is installed when it is needed.
func (m *machine) runner() (agent.Runner, error) {
	if err := agent.WriteHook(m.dir, m.exe); err != nil {
		return nil, err
	}
	env := m.env
	if name := m.account.Name; name != "" {
		env = append(slices.Clone(env), "USER="+name, "LOGNAME="+name)
	}
	return actionsrunner.New(actionsrunner.Options{
		Dir: filepath.Join(m.dir, runnerFolder), Log: filepath.Join(m.dir, "runner.log"), Env: env, InstanceID: m.id,
		Hook: filepath.Join(m.dir, agent.HookFile), Verdicts: filepath.Join(m.dir, agent.VerdictFile),
		Clock: m.a.clock, Credential: m.account.Credential, Prepare: m.prepare, Guard: m.guard,
		Group: m.cfg.GitHub.RunnerGroup,
	})
}

// prepare makes the machine ready for its first runner.
func (m *machine) prepare(ctx context.Context) error {
	if m.account.Credential != nil {
		jobs, err := m.jobs()
		if err != nil {
			return err
		}
		if len(jobs.Subordinate) > 0 {
			m.log.Warn("the runner's user has subordinate users: remove them unless jobs need user namespaces",
				logkey.Path, subordinates, logkey.Count, len(jobs.Subordinate))
		}
	}
	if err := m.measure(ctx); err != nil {
		return err
	}
	return m.install(ctx)
}

// measure takes the baseline, unless it is taken. Who comes while another one is at it waits: no job runs before.
func (m *machine) measure(ctx context.Context) error {
	select {
	case m.measuring <- struct{}{}:
		defer func() { <-m.measuring }()
	case <-ctx.Done():
		return m.unmeasured(ctx)
	}
	switch err := m.scrubber().TakeBaseline(ctx); {
	case err == nil:
		return nil
	case ctx.Err() != nil: // it takes longer than a start may
		return m.unmeasured(ctx)
	default:
		return fmt.Errorf("%w: %w", agent.ErrUnfit, err)
	}
}

// unmeasured says that the baseline is not taken yet, as of a trouble that passes.
func (m *machine) unmeasured(ctx context.Context) error {
	return fmt.Errorf("take baseline of %s: %w: still at it: %w", m.id, githubapi.ErrUnavailable, context.Cause(ctx))
}

// guard makes sure before each registration that it, and the role's credentials, stay where they belong.
func (m *machine) guard(ctx context.Context) error {
	wanted := m.cfg.Agent.MetadataFirewall == config.FirewallEverywhere || m.whole && m.cfg.Agent.MetadataFirewall == config.FirewallRequired
	if !wanted || m.account.Credential == nil {
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
	m.firewall.Barred = []int{int(m.account.Credential.Uid), ec2machine.LastUser}
	for _, name := range m.cfg.Agent.MetadataUsers {
		exempt, err := actionsrunner.Lookup(name)
		if err == nil && exempt.Credential.Uid == m.account.Credential.Uid {
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
			m.log.Error("no baseline taken", logkey.Error, err)
		}
	})
	if err := m.install(ctx); err != nil && ctx.Err() == nil {
		m.log.Error("runner not installed", logkey.Error, err)
	}
}

// install makes the runner's folder, unless it is there: all of it or none, since an agent may die in
// between. Who comes while another one is at it waits.
func (m *machine) install(ctx context.Context) error {
	select {
	case m.installing <- struct{}{}:
		defer func() { <-m.installing }()
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		return fmt.Errorf("install runner of %s: %w: still at it: %w", m.id, githubapi.ErrUnavailable, cmp.Or(m.trouble, context.Cause(ctx)))
	}
	dir := filepath.Join(m.dir, runnerFolder)
	if _, err := os.Stat(filepath.Join(dir, "bin", "Runner.Listener")); err == nil {
		return nil
	}
	if err := m.installIn(ctx, dir); err != nil {
		return fmt.Errorf("install runner of %s: %w", m.id, err)
	}
	return nil
}

func (m *machine) installIn(ctx context.Context, dir string) error {
	temp := dir + ".new"
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700)); err != nil {
		return err
	}
	var err error
	switch c := m.cfg.Agent; {
	case c.RunnerURL != "":
		err = actionsrunner.Archive{
			URL: c.RunnerURL, SHA256: c.RunnerSHA256, Cache: m.cache, Clock: m.a.clock, Log: m.log,
			Tell: func(err error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.trouble = err
			},
		}.Unpack(ctx, temp)
	case c.RunnerDir != "":
		err = os.CopyFS(temp, os.DirFS(c.RunnerDir))
	default:
		err = simrunner.Install(temp, m.exe)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	if err := m.give(temp, actionsrunner.Share); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

func (m *machine) scrubber() scrub.Scrubber {
	s := scrub.Scrubber{
		InstanceID: m.id, Root: m.dir, Clock: m.a.clock,
		Empty:   []string{filepath.Join(runnerFolder, "_work"), filepath.Join(runnerFolder, "_diag"), homeFolder, tempFolder},
		Program: runnerFolder, Tree: true, Whole: m.whole, Others: m.others, System: m.system, Levels: map[string]scrub.Level{},
	}
	for name, class := range m.cfg.Classes {
		s.Levels[name] = scrub.Level(class.Scrub)
	}
	if m.account.Credential != nil && m.cfg.Alone() {
		s.User = &scrub.User{UID: int(m.account.Credential.Uid), Groups: m.groups(), Name: m.account.Name, Home: m.account.Home}
	}
	if m.cfg.Agent.Scrub != "" {
		s.Script = m.command(m.cfg.Agent.Scrub, "scrub.log")
	}
	return s
}

func (m *machine) script() agent.Script {
	if m.cfg.Agent.Script == "" {
		return nil
	}
	return preparation{m.command(m.cfg.Agent.Script, "script.log"), m.prepared}
}

// preparation is the operator's script before the first runner, which tells when the machine is as runs find it.
type preparation struct {
	*agent.Command
	done chan<- struct{}
}

// Run implements agent.Script. It succeeds once.
func (p preparation) Run(ctx context.Context) error {
	err := p.Command.Run(ctx)
	if err == nil {
		close(p.done)
	}
	return err
}

// command is a script of the operator's. Where jobs have a user of their own it gets nothing that is theirs: what
// a job left in its home would decide what root does.
func (m *machine) command(path, log string) *agent.Command {
	c := &agent.Command{
		Path: path, Dir: filepath.Join(m.dir, homeFolder), Env: m.env,
		Log: filepath.Join(m.dir, log), Limit: m.cfg.Agent.ScriptTimeout,
	}
	if m.account.Credential != nil {
		c.Dir, c.Env = "/", []string{
			"PATH=" + m.path, "LANG=C.UTF-8", agent.EnvMarker + "=" + m.id, "HOME=" + m.home, "TMPDIR=" + filepath.Join(m.dir, scriptFolder),
		}
	}
	return c
}

// keepApart makes the world of the operator's scripts, and of the programs that the agent runs as root: a
// home and a folder for temporary files that jobs do not have, and a PATH into which none can put a program.
func (m *machine) keepApart() error {
	self, err := user.Current()
	if err != nil {
		return err
	}
	m.home = self.HomeDir
	dir := filepath.Join(m.dir, scriptFolder)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return err
	}
	jobs, err := m.jobs()
	if err != nil {
		return err
	}
	m.path, m.open = jobs.Free(environment(m.a.environ())["PATH"])
	return nil
}

// trustPath makes the programs of this process those that no job can have put there.
func (m *machine) trustPath() error {
	if len(m.open) > 0 {
		m.log.Warn("jobs may write into folders of PATH: they are left out of the agent's and its scripts'", logkey.Path, strings.Join(m.open, string(os.PathListSeparator)))
	}
	return os.Setenv("PATH", m.path)
}

// jobs is whose the doings of jobs are.
func (m *machine) jobs() (writable.User, error) {
	c := m.account.Credential
	user, err := process.LookupUser(m.account.Name, int(c.Uid), subordinates)
	return writable.User{User: user, Groups: m.groups()}, err
}

// groups are those that jobs are in.
func (m *machine) groups() []int {
	groups := []int{int(m.account.Credential.Gid)}
	for _, g := range m.account.Credential.Groups {
		groups = append(groups, int(g))
	}
	return groups
}

// subordinates says whom a user may become in a user namespace (subuid(5)).
const subordinates = "/etc/subuid"
