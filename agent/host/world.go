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

// world makes what a listener and its jobs find on the machine: user, groups, home and variables, as the operator prepared them. It
// reads all of that again for each listener, since the operator's script may have changed it.
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

// account is the account of jobs; zero: they run as the agent's user.
func (m *machine) account() actionsrunner.Account {
	if a := m.known.Load(); a != nil {
		return *a
	}
	return actionsrunner.Account{}
}

// lookUp reads the account of jobs again. Its uid must stay, since processes and files of jobs are known by it.
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
	path   string         // as jobs name it
	folder string         // where its files are
	view   []func() error // has processes find folder at path
}

// jobsHome returns the home that the account database names, so that programs that ask the database, such as ssh, agree with
// those that read HOME. A machine that is one instance's has that folder itself. On a computer that instances share, each has a
// folder of its own in that place. Jobs without a home of their own get a folder of the instance.
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

// ownHome returns where the home of an account is. It is false unless the folder is the account's: some have one of the system's.
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

// makeFolders makes the folders of the instance. What is there stays, since an agent may be started again.
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
			m.Log.Warn("jobs get a home that the account database does not name", logkey.Path, own, logkey.Error, err)
		}
	}
	if _, err := os.Lstat(own); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !m.bound {
		return errors.Join(os.Mkdir(own, 0o700), m.give(own, os.Lchown))
	}
	from, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer from.Close()
	part := own + ".new"
	if err := errors.Join(os.RemoveAll(part), scrub.CopyFolder(from, part)); err != nil {
		return fmt.Errorf("copy the home of %s: %w", m.account().Name, err)
	}
	return os.Rename(part, own)
}
