//go:build unix

package host

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// place is one in dir for a configuration.
func place(cfg config.Config, dir string) Place {
	return Place{
		Config: cfg, Dir: dir, Exe: "/bin/false", Env: map[string]string{"PATH": os.Getenv("PATH")}, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
}

func first(env []string, _ string, _ error) []string { return env }

// listed is an environment as a map.
func listed(env []string) map[string]string {
	out := map[string]string{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out[name] = value
	}
	return out
}

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
	cfg, dir := config.Default(), t.TempDir()
	cfg.Agent.RunnerUser, cfg.Agent.RunnerDir = "nobody", filepath.Dir(filepath.Dir(program))
	for range 2 { // an agent may be started anew
		m, err := newMachine(place(cfg, dir), site{id: "i-1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.world(t.Context()); err != nil {
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
	if _, err := newMachine(place(cfg, t.TempDir()), site{id: "i-1"}); err == nil || !strings.Contains(err.Error(), `agent.runnerUser: runner user "no-such-user"`) {
		t.Errorf("newMachine with an unknown user = %v", err)
	}
}

// A copy of the runner that was cut off is not taken for the runner.
func TestMachine_Install_AllOrNothing(t *testing.T) {
	cfg, dir := config.Default(), t.TempDir()
	left := filepath.Join(dir, "runner.new", "bin")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "Runner.Listener"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(place(cfg, dir), site{id: "i-1"})
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

// Where jobs have a user of their own, the operator's scripts get nothing that is theirs: no home, no folder for
// temporary files, no program.
func TestMachine_Scripts_InRootsWorld_H42(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	top := t.TempDir()
	theirs, ours := filepath.Join(top, "theirs"), filepath.Join(top, "ours")
	if err := errors.Join(os.Chmod(top, 0o755), os.Mkdir(ours, 0o755), os.Mkdir(theirs, 0o755), os.Chmod(theirs, 0o777)); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Agent.RunnerUser, cfg.Agent.Scrub, cfg.Agent.Script = "nobody", "/bin/true", "/bin/true"
	at := place(cfg, t.TempDir())
	at.Env = map[string]string{"PATH": theirs + ":" + ours + ":.:/none:/usr/bin"}
	m, err := newMachine(at, site{id: "i-1"})
	if err != nil {
		t.Fatal(err)
	}
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	script, ok := m.script().(preparation)
	if !ok {
		t.Fatalf("script = %T", m.script())
	}
	for name, command := range map[string]*agent.Command{"script": script.Command, "scrub": m.scrubber().Script.(*agent.Command)} {
		env := listed(command.Env)
		if command.Dir != "/" || env["HOME"] != self.HomeDir || env["PATH"] != ours+":/usr/bin" || len(env) != 6 {
			t.Errorf("%s runs in %s with %v", name, command.Dir, env)
		}
		info, err := os.Stat(env["TMPDIR"])
		if err != nil || info.Mode().Perm() != 0o700 || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Errorf("%s has %q for temporary files: %v, %v", name, env["TMPDIR"], info, err)
		}
	}
	if jobs := listed(first(m.environment(nil))); jobs["PATH"] != at.Env["PATH"] || jobs["HOME"] == self.HomeDir {
		t.Errorf("jobs run with %v", jobs)
	}
}

// A user of agent.metadataUsers must be there, and not be the one of jobs.
func TestMachine_MetadataUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	for name, want := range map[string]string{"daemon": "", "no-such-user": `"no-such-user"`, "nobody": "must not be the user of jobs"} {
		cfg := config.Default()
		cfg.Agent.RunnerUser, cfg.Agent.MetadataUsers = "nobody", []string{name}
		m, err := newMachine(place(cfg, t.TempDir()), site{id: "i-1"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %s newMachine = %v, want …%s…", name, err, want)
		}
		if err == nil && len(m.firewall.Exempt) != 1 {
			t.Errorf("exempt are %v, want %s", m.firewall.Exempt, name)
		}
	}
}

// Nothing registers on EC2 unless all users but root are kept from instance metadata, unless that is
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
		"Required":    {"nobody", config.FirewallRequired, true, "neither nft nor iptables"},
		"Off":         {"nobody", config.FirewallOff, true, ""},
		"NoUser":      {"", config.FirewallRequired, true, ""},
		"NotAMachine": {"nobody", config.FirewallRequired, false, ""},
		"Everywhere":  {"nobody", config.FirewallEverywhere, false, "neither nft nor iptables"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Agent.RunnerUser, cfg.Agent.MetadataFirewall = tt.user, tt.wall
			m, err := newMachine(place(cfg, t.TempDir()), site{id: "i-1", whole: tt.whole})
			if err != nil {
				t.Fatal(err)
			}
			bin := t.TempDir() // without a firewall
			if err := os.Symlink("/bin/cp", filepath.Join(bin, "cp")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin)
			runner, err := m.runner()
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // each time anew: others flush rules
				_, err = runner.Start(t.Context(), store.Registration{Name: "r-1", Mode: "never"}, "label")
				if want := cmp.Or(tt.want, `registration mode "never"`); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Start = %v, want …%s…", err, want)
				}
			}
		})
	}
}
