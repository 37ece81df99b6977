//go:build unix

package simrunner_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// installed returns a runner folder whose program is this test binary under an awkward name.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	exe := filepath.Join(t.TempDir(), `it's a "$runner" \ `)
	must(t, os.Symlink(self, exe))
	dir := filepath.Join(t.TempDir(), "the runner's $folder")
	must(t, simrunner.Install(dir, exe))
	return dir
}

// spawn starts a script of the folder as a process group of its own.
func spawn(t *testing.T, path string, args ...string) (*exec.Cmd, *text) {
	t.Helper()
	out := newText()
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir() // the scripts must not need to be in their folder
	// A program with the race detector would sleep for a second before it exits.
	cmd.Env = append(os.Environ(), "RUNNER_ALLOW_RUNASROOT=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = patience
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
			_ = cmd.Wait()                                      // only to reap it
		}
	})
	return cmd, out
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("wait for %s: %v", cmd.Path, err)
	}
	return cmd.ProcessState.ExitCode()
}

func TestInstalled_ListenerIsTheProgram(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 0, syscall.SIGTERM: 143} {
		w := newWorld(t, githubsim.Options{})
		cmd, out := spawn(t, filepath.Join(installed(t), "bin", "Runner.Listener"), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
		up := filepath.Join(t.TempDir(), "up")
		w.submit(t, githubsim.Job{ID: "j", Label: "a", Name: "long", Script: fmt.Sprintf(`echo >"%s"; exec sleep 1000`, up)})
		out.await(t, "Running job: long")
		awaitFile(t, up, "\n") // until its worker is at work it is Canceled without a word
		must(t, cmd.Process.Signal(sig))
		if code := exitCode(t, cmd); code != want {
			t.Errorf("exit code after %s = %d, want %d; output:\n%s", sig, code, want, out)
		}
		w.concluded(t, "j", githubsim.Failure) // the runner was stopped, not the job
	}
}

func TestInstalled_KilledRunnerFailsItsJob(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now()) // nobody is silent for long while it stands still
	w := newWorld(t, githubsim.Options{Clock: clk})
	cmd, out := spawn(t, filepath.Join(installed(t), "bin", "Runner.Listener"), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	pid := filepath.Join(t.TempDir(), "pid")
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Name: "long", Script: fmt.Sprintf(`echo $$ >"%s"; sleep 1000`, pid)})
	out.await(t, "Running job: long")
	var step int
	_, err := fmt.Sscan(awaitFile(t, pid, ""), &step)
	must(t, err)
	must(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	if code := exitCode(t, cmd); code != -1 {
		t.Errorf("exit code of the killed runner = %d, want -1", code)
	}
	eventually(t, "the session times out", func() error {
		clk.Step(time.Second)
		if got := w.state("j"); got != githubsim.Completed {
			return fmt.Errorf("job is %s", got)
		}
		return nil
	})
	if rec := w.completed(t, "j"); rec.Conclusion != githubsim.Failure || rec.Detail == "" {
		t.Errorf("job = %+v, want failure with a detail", rec)
	}
	if got := w.Registrations()[0].Removed; got != githubsim.RemovedUsed {
		t.Errorf("registration was removed as %q, want %q", got, githubsim.RemovedUsed)
	}
	// Steps are in the runner's process group, as the real ones are.
	gone(t, step)
}

func TestInstalled_ConfigRunRemove(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir, token := installed(t), w.token(t)
	cmd, out := spawn(t, filepath.Join(dir, "config.sh"), "--unattended", "--url", w.URL(), "--token", token,
		"--name", "n", "--labels", "a", "--no-default-labels", "--disableupdate", "--ephemeral")
	if code := exitCode(t, cmd); code != 0 {
		t.Fatalf("config.sh exit code = %d; output:\n%s", code, out)
	}
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Name: "short"})
	cmd, out = spawn(t, filepath.Join(dir, "run.sh"))
	if code := exitCode(t, cmd); code != 0 || !strings.Contains(out.String(), "Job short completed with result: Succeeded") {
		t.Errorf("run.sh exit code = %d; output:\n%s", code, out)
	}
	cmd, out = spawn(t, filepath.Join(dir, "run.sh"))
	if code := exitCode(t, cmd); code != 0 || !strings.Contains(out.String(), "Not configured") {
		t.Errorf("run.sh afterwards: exit code = %d, want 0, which hides the listener's 1; output:\n%s", code, out)
	}
	cmd, out = spawn(t, filepath.Join(dir, "config.sh"), "Remove", "--token", token)
	if code := exitCode(t, cmd); code != 0 || !strings.Contains(out.String(), "Skipping removing runner from the server") {
		t.Errorf("config.sh remove exit code = %d; output:\n%s", code, out)
	}
}

func TestInstall_NeedsAnAbsoluteProgram(t *testing.T) {
	if err := simrunner.Install(t.TempDir(), "remuda"); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("Install() with a relative program error = %v, want a refusal", err)
	}
}

// The program refuses to start where it cannot list a folder above its own, as the real one does.
func TestInstall_FolderAboveNotListable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become a user that may not list a folder")
	}
	top := t.TempDir()
	dir := filepath.Join(top, "closed", "runner")
	must(t, errors.Join(os.Chmod(filepath.Dir(top), 0o755), os.MkdirAll(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o711)))
	cmd := exec.Command("/bin/ls", filepath.Dir(dir)) // what the check stands for
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := cmd.Run(); err == nil {
		t.Skip("this system lets anybody list the folder")
	}
	exe := filepath.Join(top, "program")
	b, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(exe, b, 0o755))
	must(t, simrunner.Install(dir, exe))
	cmd = exec.Command(filepath.Join(dir, "bin", "Runner.Listener"), "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "each directory up the hierarchy") {
		t.Errorf("Runner.Listener = %v, want status 1 and why\n%s", err, out)
	}
}
