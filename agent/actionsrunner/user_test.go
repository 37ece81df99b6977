//go:build linux

package actionsrunner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/store"
)

// The runner and what it starts belong to a user without privileges: config.sh too. What such a
// user's processes leave is found and ended by the agent, which is root.
func TestStart_UnprivilegedUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a runner as another user")
	}
	const nobody = 65534
	w := newWorld(t)
	w.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	for _, dir := range []string{w.dir, filepath.Dir(w.dir)} { // both are the test's own
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if err := actionsrunner.Share(w.dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.dir, "pipe"), 0o666); err != nil { // the test's own
		t.Fatal(err)
	}
	l := w.listening(store.Token)
	w.tell("daemon")
	child := w.child()
	for _, pid := range []int{l.Ref().PID, child.PID} {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Uid:\t65534\t65534\t65534\t65534\n", "Gid:\t65534\t65534\t65534\t65534\n", "Groups:\t \n", "CapEff:\t0000000000000000\n"} {
			if !strings.Contains(string(status), want) {
				t.Errorf("process %d lacks %q:\n%s", pid, want, status)
			}
		}
	}
	info, err := os.Stat(filepath.Join(w.dir, "configured"))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("config.sh ran as another user: %v, %v", info, err)
	}
	if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil || child.Alive() {
		t.Errorf("Stop = %v, child alive: %v", err, child.Alive())
	}
}

// Users that do not exist, and root, are refused by name.
func TestLookup(t *testing.T) {
	for name, want := range map[string]string{"root": `runner user "root": must not be root`, "no such user": `runner user "no such user": user: unknown user`} {
		if _, err := actionsrunner.Lookup(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Lookup(%q) = %v, want %q", name, err, want)
		}
	}
	if _, err := user.Lookup("nobody"); err != nil {
		t.Skipf("no user to look up: %v", err)
	}
	a, err := actionsrunner.Lookup("nobody")
	if err != nil || a.Name != "nobody" || a.Credential.Uid == 0 || len(a.Credential.Groups) == 0 {
		t.Errorf("Lookup = %+v, %v", a, err)
	}
}

// H42: a user works in the folder, and cannot change the program in it or put another in its place. No
// link is followed.
func TestShare_ProgramIsSafe_H42(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can share with another user")
	}
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "shadow")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(filepath.Join(dir, "bin"), 0o700),
		os.WriteFile(filepath.Join(dir, "bin", "Runner.Listener"), []byte("#!/bin/sh\n"), 0o777), os.WriteFile(outside, nil, 0o600),
		os.Symlink(outside, filepath.Join(dir, "link")), actionsrunner.Share(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode() != 0o600 {
		t.Errorf("what a link points to is %v, %v, want it untouched", info, err)
	}
	for script, works := range map[string]bool{
		"bin/Runner.Listener":            true,
		"echo x > .runner && rm .runner": true,
		// Its own folders; the scrub repairs what it makes of them.
		"mkdir -p _work/a _diag/b && rm -r _work/a && mv _work _old && ln -s / _work": true,
		"echo x >> bin/Runner.Listener":                                               false,
		"rm bin/Runner.Listener":                                                      false,
		"mv bin old":                                                                  false,
		"chmod 777 .":                                                                 false,
		"rm link":                                                                     false,
	} {
		cmd := exec.Command("/bin/sh", "-ec", script)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); (err == nil) != works {
			t.Errorf("%s: %v, want it to work: %v\n%s", script, err, works, out)
		}
	}
}
