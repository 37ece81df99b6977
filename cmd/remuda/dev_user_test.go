//go:build unix

package main

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/internal/config"
)

// A user who could not run the runner program is refused before anything is launched, with the remedy.
func TestDev_RunnerUser_RefusedWhereItCannotRun(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start programs of another user")
	}
	if _, err := user.Lookup("nobody"); err != nil {
		t.Skipf("no user to refuse: %v", err)
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "dev")
	for _, tt := range []struct {
		user string
		want []string
	}{
		{"nobody", []string{"agent.runnerUser: must be", `got "nobody"`, "cannot list " + closed + ":", "chmod o+rx " + closed, "--dir"}},
		{"no-such-user", []string{"agent.runnerUser: must be", `got "no-such-user"`}},
	} {
		c := newCLI(nil)
		c.env = []string{"REMUDA_AGENT_RUNNER_USER=" + tt.user}
		if code := c.run(t.Context(), "dev", "--dir", dir); code != exitUsage {
			t.Errorf("%s: exit code = %d, want %d", tt.user, code, exitUsage)
		}
		contains(t, c.err.String(), tt.want...)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: folder of dev after the refusal: %v, want none", tt.user, err)
		}
	}
}

// Where every folder above can be listed, that of dev is opened, and not what it keeps.
func TestDev_RunnerUser_FolderIsOpened(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start programs of another user")
	}
	top := t.TempDir()
	if err := errors.Join(os.Chmod(top, 0o755), os.Chmod(filepath.Dir(top), 0o755)); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Agent.RunnerUser = "nobody"
	o := &devOptions{dir: filepath.Join(top, "dev")}
	if err := o.admits(cfg, "/bin/sh"); err != nil {
		t.Fatalf("admits() error = %v", err)
	}
	unlock, err := lockDev(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}()
	if err := o.admit(cfg); err != nil {
		t.Fatalf("admit() error = %v", err)
	}
	info, err := os.Stat(o.dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("folder of dev = %v, %v, want it to be listed by all", info.Mode(), err)
	}
	info, err = os.Stat(filepath.Join(o.dir, devLock))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("lock = %v, %v, want it closed to others", info.Mode(), err)
	}
	if err := o.admits(cfg, filepath.Join(top, "none")); err == nil {
		t.Error("a program that is not there is admitted")
	}
}
