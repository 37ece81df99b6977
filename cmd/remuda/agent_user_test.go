//go:build unix

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// With agent.runnerUser the folders that the runner writes are that user's, and nothing else is: not the
// program.
func TestMachine_RunnerUser_OwnsItsFolders(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give folders to another user")
	}
	if _, err := user.Lookup("nobody"); err != nil {
		t.Skipf("no user to give folders to: %v", err)
	}
	program := filepath.Join(t.TempDir(), "bin", "Runner.Listener")
	if err := os.Mkdir(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg, dir := defaults(), t.TempDir()
	cfg.Agent.RunnerUser, cfg.Agent.RunnerDir = "nobody", filepath.Dir(filepath.Dir(program))
	for range 2 { // an agent may be started anew
		m, err := newMachine(newCLI(nil).app, cfg, "i-1", dir, "/bin/false")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.runner(); err != nil {
			t.Fatal(err)
		}
		if err := m.install(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, own := range map[string]bool{
		"runner": false, "runner/bin": false, "runner/bin/Runner.Listener": false, "runner/_work": true, "runner/_diag": true, "home": true, "tmp": true, ".": false, "hook-job-started.sh": false,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; (uid != 0) != own {
			t.Errorf("%s belongs to %d, want the runner's user: %v", name, uid, own)
		}
	}
	cfg.Agent.RunnerUser = "no-such-user"
	if _, err := newMachine(newCLI(nil).app, cfg, "i-1", t.TempDir(), "/bin/false"); err == nil || !strings.Contains(err.Error(), `agent.runnerUser: runner user "no-such-user"`) {
		t.Errorf("newMachine with an unknown user = %v", err)
	}
}

// A copy of the runner that was cut off is not taken for the runner.
func TestMachine_Install_AllOrNothing(t *testing.T) {
	cfg, dir := defaults(), t.TempDir()
	left := filepath.Join(dir, "runner.new", "bin")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "Runner.Listener"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(newCLI(nil).app, cfg, "i-1", dir, "/bin/false")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "runner", "bin", "Runner.Listener")); err != nil || info.Size() == 0 {
		t.Errorf("runner = %v, %v, want it installed anew", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "runner.new")); !os.IsNotExist(err) {
		t.Errorf("the copy was left: %v", err)
	}
}

// Nothing registers on EC2 before the runner's user is kept from instance metadata, unless that is
// switched off; without such a user, or elsewhere, there is nothing to keep.
func TestMachine_MetadataFirewall_BeforeRegistration(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run the runner as another user")
	}
	for name, tt := range map[string]struct {
		user, wall string
		whole      bool
		want       string
	}{
		"Required":    {"nobody", firewallRequired, true, "neither nft nor iptables"},
		"Off":         {"nobody", firewallOff, true, ""},
		"NoUser":      {"", firewallRequired, true, ""},
		"NotAMachine": {"nobody", firewallRequired, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := defaults()
			cfg.Agent.RunnerUser, cfg.Agent.MetadataFirewall = tt.user, tt.wall
			m, err := newMachine(newCLI(nil).app, cfg, "i-1", t.TempDir(), "/bin/false")
			if err != nil {
				t.Fatal(err)
			}
			m.whole = tt.whole
			t.Setenv("PATH", t.TempDir())
			if err := m.prepare(t.Context()); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("prepare = %v, want …%s…", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(m.dir, "runner", "bin")); (err == nil) != (tt.want == "") {
				t.Errorf("runner installed: %v", err)
			}
		})
	}
}
