package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
)

// world builds the environment of a listener and its jobs: user, groups, home and variables, as the operator prepared them. The operator's
// script may change them, so world reads them again for each listener.
func (m *machine) world(context.Context) (actionsrunner.World, error) {
	if err := m.lookUp(); err != nil {
		return actionsrunner.World{}, fmt.Errorf("%w: %w", agent.ErrUnfit, err)
	}
	env, hook, err := m.environment(nil)
	if err == nil {
		err = agent.WriteHook(m.Dir, m.Exe, hook)
	}
	if err != nil {
		return actionsrunner.World{}, fmt.Errorf("%w: %w", agent.ErrUnfit, err)
	}
	return actionsrunner.World{Credential: m.account().Credential, View: m.jobsHome().view, Env: env}, nil
}

// account returns the account of jobs; zero if jobs run as the agent's user.
func (m *machine) account() actionsrunner.Account {
	if a := m.known.Load(); a != nil {
		return *a
	}
	return actionsrunner.Account{}
}

// lookUp reads the account of jobs again. Its uid must not change, because the uid identifies the processes and files of jobs.
func (m *machine) lookUp() error {
	name := m.Config.JobsUser()
	if name == "" {
		return nil
	}
	a, err := actionsrunner.Lookup(name)
	if was := m.account().Credential; err == nil && was != nil && was.Uid != a.Credential.Uid {
		err = fmt.Errorf("runner user %q: has uid %d, and had %d when the agent started: set the uid before the agent starts", name, a.Credential.Uid, was.Uid)
	}
	if err != nil {
		return fmt.Errorf("agent.runnerUser: %w", err)
	}
	m.known.Store(&a)
	return nil
}

// home is the home of jobs.
type home struct {
	path   string         // as jobs see it
	folder string         // where its files are
	view   []func() error // makes folder visible to processes at path
}

// jobsHome returns the home in the account database, so that HOME agrees with programs such as ssh. A dedicated machine uses that folder.
// If instances share a computer, each instance has its own folder, bound over that path. If the account owns no home, jobs get a folder of
// the instance.
func (m *machine) jobsHome() home {
	own := filepath.Join(m.Dir, homeFolder)
	folder, ok := ownHome(m.account())
	switch {
	case ok && m.whole:
		return home{m.account().Home, folder, nil}
	case ok && m.bound:
		return home{m.account().Home, own, []func() error{process.Bind(own, folder)}}
	}
	return home{own, own, nil}
}

// ownHome returns the folder of an account's home, and whether the account owns it. Some accounts have a folder of the system as home.
func ownHome(a actionsrunner.Account) (string, bool) {
	if a.Credential == nil || !filepath.IsAbs(a.Home) || filepath.Clean(a.Home) == "/" {
		return "", false
	}
	folder, err := filepath.EvalSymlinks(a.Home)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(folder)
	if err != nil || !info.IsDir() {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return folder, ok && st.Uid == a.Credential.Uid
}

// makeFolders creates the folders of the instance. Existing content stays, because an agent may be restarted.
func (m *machine) makeFolders() error {
	temp := filepath.Join(m.Dir, tempFolder)
	if err := errors.Join(os.MkdirAll(temp, 0o700), m.give(temp, os.Lchown)); err != nil {
		return err
	}
	own := filepath.Join(m.Dir, homeFolder)
	folder, ok := ownHome(m.account())
	if ok && m.whole {
		return nil
	}
	if ok {
		err := process.CanBind(m.Dir, folder)
		if m.bound = err == nil; err != nil {
			m.Log.Warn("home of jobs differs from the account database", logkey.Path, own, logkey.Error, err)
		}
	}
	if _, err := os.Lstat(own); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !m.bound {
		return errors.Join(os.Mkdir(own, 0o700), m.give(own, os.Lchown))
	}
	part := own + ".new"
	if err := errors.Join(os.RemoveAll(part), scrub.CopyFolder(context.Background(), folder, part)); err != nil {
		return fmt.Errorf("copy the home of %s: %w", m.account().Name, err)
	}
	return os.Rename(part, own)
}
