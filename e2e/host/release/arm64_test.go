//go:build linux

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// unhurried are limits that no program reaches for being emulated.
const unhurried = `
limits: {created: 6m, claimed: 5m, running: 15m, idle: 15m, claimGate: 4m, createGate: 5m, handshake: 4m, silence: 2m, runningSilence: 3m}
process: {terminateGrace: 20s}
`

// The program for arm64 is controller, agents and client of a run, up to machines that are clean and idle again.
func TestRelease_Arm64ServesARun(t *testing.T) {
	everyTarget(t)
	archive := one(t, release(t), "*_linux_arm64.tar.gz")
	hosttest.Emulate(t)
	dir := t.TempDir()
	output(t, "tar", "-xzf", archive, "-C", dir)
	binary := filepath.Join(dir, "remuda")
	said, version := output(t, binary, "version"), strings.Split(filepath.Base(archive), "_")[1]
	if !strings.HasPrefix(said, "remuda v"+version+" ") || !strings.Contains(said, "linux/arm64") {
		t.Fatalf("version = %q, want %s", said, version)
	}
	tt := program.T{TB: t}
	tt.Check(os.WriteFile(filepath.Join(dir, "limits.yaml"), []byte(unhurried), 0o600))
	dev := program.Start(t, program.Command{
		Name: "dev", Program: binary, Args: []string{"--config", "limits.yaml", "dev", "--dir", dir, "--github-latency", "100ms"},
		Dir: dir, Env: os.Environ(), Patience: patience,
	})
	dev.Says("this controller leads")
	wholeRun(t, func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "REMUDA_CONFIG="+filepath.Join(dir, "remuda.yaml"))
		return cmd
	})
	if code := dev.End(os.Interrupt); code != 0 {
		t.Errorf("dev ended with %d", code)
	}
}

// wholeRun is what a client asks for, from two new machines to the same two in the pool.
func wholeRun(t *testing.T, remuda func(args ...string) *exec.Cmd) {
	t.Helper()
	must(t, remuda("request", "--id", "1", "--count", "2", "--resource-class", "small", "--timeout", "3m"))
	must(t, remuda("dev", "submit", "--run", "1", "--count", "2", "--wait"))
	must(t, remuda("release", "--id", "1", "--timeout", "3m"))
	if out := string(must(t, remuda("status", "--output", "json"))); strings.Count(out, `"idle"`) < 2 {
		t.Errorf("two machines are not idle again:\n%s", out)
	}
}
