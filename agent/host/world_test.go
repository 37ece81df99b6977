package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/process"
)

// withHome returns an account of this computer that owns its home.
func withHome(t *testing.T) actionsrunner.Account {
	t.Helper()
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(users)) {
		name, _, _ := strings.Cut(line, ":")
		if a, err := actionsrunner.Lookup(name); err == nil {
			if _, own := ownHome(a); own {
				return a
			}
		}
	}
	t.Skip("no account of this computer owns its home")
	return actionsrunner.Account{}
}

// Instances that share an account each have a separate home, which starts as a copy of the account's home. Their jobs see it at the path in
// the account database. The account's home and the homes of other instances do not change.
func TestMachine_SharedAccount_HomesOfTheirOwn_Review_R3(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	account := withHome(t)
	if err := process.CanBind(t.TempDir(), account.Home); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	before := names(t, account.Home)
	cfg := config.Default()
	cfg.Agent.RunnerUser = account.Name
	for _, id := range []string{"i-1", "i-2"} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		m, err := newMachine(place(cfg, dir), site{id: id})
		if err != nil {
			t.Fatal(err)
		}
		world, err := m.world(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := exec.Command("/bin/sh", "-ec", `ls -A ~; echo "home $HOME"; id -G; echo "$REMUDA_INSTANCE_ID" > "$HOME/of-the-job"; cat ~/of-the-job`)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", world.Env, &out, &out
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: world.Credential}
		if err = process.Start(cmd, world.View...); err == nil {
			err = process.Wait(cmd)
		}
		if err != nil {
			t.Fatalf("job: %v\n%s", err, &out)
		}
		if want := before + "home " + account.Home + "\n"; !strings.HasPrefix(out.String(), want) || !strings.HasSuffix(out.String(), "\n"+id+"\n") {
			t.Errorf("the job of %s prints %q, want %q first and its instance last", id, out.String(), want)
		}
		if text, err := os.ReadFile(filepath.Join(dir, homeFolder, "of-the-job")); err != nil || string(text) != id+"\n" {
			t.Errorf("the home of %s holds %q, %v", id, text, err)
		}
		if after := names(t, account.Home); after != before {
			t.Errorf("the account's home holds %q, and held %q", after, before)
		}
	}
}

// names lists a folder as ls -A does.
func names(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("/bin/ls", "-A", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
