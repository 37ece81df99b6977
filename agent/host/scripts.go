package host

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
)

func (m *machine) scrubber() scrub.Scrubber {
	s := scrub.Scrubber{
		InstanceID: m.id, Root: m.Dir, Boundary: m.boundary, NoBoundary: m.noBoundary, Clock: m.Clock, AllowSubordinateIDs: m.Config.Agent.AllowSubordinateIDs,
		Fresh:   m.fresh(),
		Program: runnerFolder, Tree: true, Whole: m.whole, Others: m.others, System: m.Env[RootEnv], Levels: map[string]scrub.Level{},
	}
	s.Keep.Processes = m.Config.Agent.Keep.Processes
	for _, port := range m.Config.Agent.Keep.Ports {
		s.Keep.Ports = append(s.Keep.Ports, strconv.Itoa(port))
	}
	for name, class := range m.Config.Classes {
		s.Levels[name] = scrub.Level(class.Scrub)
	}
	if m.account().Credential != nil && m.Config.Alone() {
		s.User = m.user()
	}
	if m.Config.Agent.Scrub != "" {
		s.Script = m.command(m.Config.Agent.Scrub, machinelog.ScrubFile)
	}
	return s
}

// fresh lists the folders that are new for each run. Containers of jobs enter _work, and may run as another user.
func (m *machine) fresh() []scrub.Folder {
	uid, gid := os.Geteuid(), os.Getegid()
	if c := m.account().Credential; c != nil {
		uid, gid = int(c.Uid), int(c.Gid)
	}
	home := m.jobsHome().folder
	if here := filepath.Join(m.Dir, homeFolder); home == here {
		home = homeFolder
	}
	return []scrub.Folder{
		{Path: filepath.Join(runnerFolder, "_work"), Mode: 0o755, UID: uid, GID: gid},
		{Path: filepath.Join(runnerFolder, machinelog.DiagDir), Mode: 0o755, UID: uid, GID: gid},
		{Path: home, Template: true},
		{Path: tempFolder, Mode: 0o700, UID: uid, GID: gid},
	}
}

func (m *machine) script() agent.Script {
	if m.Config.Agent.Script == "" {
		return nil
	}
	return preparation{m.command(m.Config.Agent.Script, machinelog.ScriptFile), m}
}

// preparation is the operator's script before the first runner, which says when the machine is as runs find it.
type preparation struct {
	*agent.Command
	m *machine
}

// Run implements agent.Script. It succeeds once.
func (p preparation) Run(ctx context.Context) error {
	err := p.m.scrubber().Prepare(ctx, p.Command)
	if err == nil {
		close(p.m.prepared)
	}
	return err
}

// command is a script of the operator's. Where jobs have a user of their own it gets nothing that is theirs: what
// a job left in its home would decide what root does.
func (m *machine) command(path, log string) *agent.Command {
	jobs := m.jobsHome()
	c := &agent.Command{Path: path, Dir: jobs.folder, Log: filepath.Join(m.Dir, log), Limit: m.Config.Agent.ScriptTimeout, View: jobs.view, Mask: m.Config.Agent.Patterns()}
	own := map[string]string{envJobsHome: jobs.path}
	if m.account().Credential != nil {
		c.Dir, own["PATH"], own["HOME"], own["TMPDIR"] = "/", m.path, m.home, filepath.Join(m.Dir, scriptFolder)
	}
	var err error
	if c.Env, _, err = m.environment(own); err != nil { // no listener starts until the error is fixed
		m.Log.Error("script runs without some of the variables of jobs", logkey.Path, path, logkey.Error, err)
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
	dir := filepath.Join(m.Dir, scriptFolder)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return err
	}
	jobs, err := m.user().Lookup("")
	if err != nil {
		return err
	}
	m.path, m.open = jobs.Free(m.Env["PATH"])
	return nil
}

// trustPath makes the programs of this process those that no job can have put there.
func (m *machine) trustPath() error {
	if len(m.open) > 0 {
		m.Log.Warn("jobs may write into folders of PATH; agent and scripts leave them out of theirs", logkey.Path, strings.Join(m.open, string(os.PathListSeparator)))
	}
	return os.Setenv("PATH", m.path)
}

// user is whose the doings of jobs are.
func (m *machine) user() *scrub.User {
	c := m.account().Credential
	u := &scrub.User{UID: int(c.Uid), Groups: []int{int(c.Gid)}, Name: m.account().Name, Home: m.account().Home}
	for _, g := range c.Groups {
		u.Groups = append(u.Groups, int(g))
	}
	if g, err := user.LookupGroup(u.Name); err == nil && g.Gid == strconv.Itoa(u.Groups[0]) {
		u.Group = u.Groups[0]
	}
	return u
}
