//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/internal/config"
)

// readable and passable are what a user may do with a folder or a program, as the bits of others' permissions.
const (
	readable = 0o4
	passable = 0o1
)

// admits refuses an agent.runnerUser that could not run the runner program in the folder of dev: it insists that
// it can list every folder above its own (actions/runner, src/Runner.Sdk/Util/IOUtil.cs,
// ValidateExecutePermission). Otherwise each machine would start, fail at that and be replaced.
func (o *devOptions) admits(cfg config.Config, exe string) error {
	name := cfg.JobsUser()
	if name == "" {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("agent.runnerUser: must be left out unless root starts dev, since only root may start programs of another user, got %q", name)
	}
	account, err := actionsrunner.Lookup(name)
	if err != nil {
		return fmt.Errorf("agent.runnerUser: must be a user of this machine other than root, got %q: %w", name, err)
	}
	var errs []error
	for dir := filepath.Dir(followed(o.dir)); ; dir = filepath.Dir(dir) {
		switch ok, err := may(account, dir, readable|passable); {
		case errors.Is(err, fs.ErrNotExist): // is made, for all
		case err != nil:
			errs = append(errs, fmt.Errorf("agent.runnerUser: %w", err))
		case !ok:
			errs = append(errs, fmt.Errorf("agent.runnerUser: must be a user who can list every folder above that of dev, got %q, who cannot list %s: choose another --dir, or run chmod o+rx %[2]s", name, dir))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for path, need := exe, fs.FileMode(readable|passable); ; path, need = filepath.Dir(path), passable {
		ok, err := may(account, path, need)
		if err != nil {
			errs = append(errs, fmt.Errorf("agent.runnerUser: %w", err))
		} else if !ok {
			errs = append(errs, fmt.Errorf("agent.runnerUser: must be a user who can run %s, which the runner does before each job, got %q, who cannot pass %s: install the program elsewhere, or run chmod o+rx %[3]s", exe, name, path))
		}
		if path == filepath.Dir(path) {
			return errors.Join(errs...)
		}
	}
}

// may reports whether a user's permissions include need.
func may(a actionsrunner.Account, path string, need fs.FileMode) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	mode := info.Mode().Perm()
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
	case st.Uid == a.Credential.Uid:
		mode >>= 6
	case st.Gid == a.Credential.Gid, slices.Contains(a.Credential.Groups, st.Gid):
		mode >>= 3
	}
	return mode&need == need, nil
}

// admit opens the folder of dev, which is closed to others, to an agent.runnerUser. What is in it stays closed:
// the store and the configuration are files of their own, and each agent opens the way to its own instance.
func (o *devOptions) admit(cfg config.Config) error {
	if cfg.JobsUser() == "" {
		return nil
	}
	info, err := os.Stat(o.dir)
	if err == nil {
		err = os.Chmod(o.dir, info.Mode().Perm()|0o055)
	}
	if err != nil {
		return fmt.Errorf("let agent.runnerUser into the folder of dev: %w", err)
	}
	return nil
}
