package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// guarded is a machine of run 77 with a hook, and a worker that is to run a job.
type guarded struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
	out output // of the worker
}

// output is text that one writes and another reads.
type output struct {
	mu sync.Mutex
	strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Builder.Write(p)
}

// said is what the worker printed so far.
func (g *guarded) said() string {
	g.out.mu.Lock()
	defer g.out.mu.Unlock()
	return g.out.String()
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{t: t, dir: t.TempDir()}
	agenttest.Write(t, filepath.Join(g.dir, "agent-state.json"), `{"work": {"runId": "77"}}`)
	agenttest.Write(t, filepath.Join(g.dir, agent.VerdictFile), "")
	if err := agent.WriteHook(g.dir, os.Args[0], ""); err != nil {
		t.Fatal(err)
	}
	return g
}

// work starts the worker, named as the real one: the hook is a step of it, and whatever became of that, one
// with always() follows.
func (g *guarded) work(run string) {
	g.t.Helper()
	g.cmd = exec.Command("/bin/sh", "-c", `trap : INT TERM; bash -e "$DIR/`+agent.HookFile+`"; echo "$?" >"$DIR/hook"; echo ran >"$DIR/step"`)
	g.cmd.Args[0] = "/opt/runner/bin/Runner.Worker"
	g.cmd.Env = append(os.Environ(), "DIR="+g.dir, "GITHUB_RUN_ID="+run, "GITHUB_REPOSITORY=octo/repo", "GORACE=atexit_sleep_ms=0")
	g.cmd.Stdout, g.cmd.WaitDelay = &g.out, time.Minute
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }) // they may have ended
}

// wantKilled waits for the worker's end, which must be a kill before the step.
func (g *guarded) wantKilled() {
	g.t.Helper()
	err := g.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		g.t.Errorf("the worker ended with %v, want it killed", err)
	}
	if _, err := os.Stat(filepath.Join(g.dir, "step")); !errors.Is(err, fs.ErrNotExist) {
		g.t.Errorf("a step ran after the hook: %v", err)
	}
}

func (g *guarded) verdicts() string {
	g.t.Helper()
	b, err := os.ReadFile(filepath.Join(g.dir, agent.VerdictFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.t.Fatal(err)
	}
	return string(b)
}

// The operator's hook runs after ours has admitted the job, as the runner would run it, and its failure is the job's. A job of another
// run does not reach it.
func TestGuardJob_OperatorsHook_Review_R7(t *testing.T) {
	for name, tt := range map[string]struct{ run, hook, code string }{
		"Passes":  {"77", `printf 'hook of %s' "$GITHUB_RUN_ID"`, "0\n"},
		"Fails":   {"77", "echo broken; exit 7", "7\n"},
		"Errexit": {"77", "false\nexit 0", "1\n"},
		"Pipe":    {"77", "false | true\nexit 0", "1\n"},
		"Signals": {"77", `kill -TERM $$; exit 0`, "143\n"},
		"Foreign": {"78", "echo not reached", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t)
			hook := filepath.Join(g.dir, "it's a hook.sh") // not executable: the runner needs no such permission
			if err := errors.Join(os.WriteFile(hook, []byte(tt.hook+"\n"), 0o644), agent.WriteHook(g.dir, os.Args[0], hook)); err != nil {
				t.Fatal(err)
			}
			g.work(tt.run)
			if tt.run != "77" {
				g.wantKilled()
				if strings.Contains(g.said(), "not reached") {
					t.Errorf("the hook ran for a foreign job: %s", g.said())
				}
				return
			}
			if err := g.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if code, err := os.ReadFile(filepath.Join(g.dir, "hook")); err != nil || string(code) != tt.code {
				t.Errorf("hook ended with %q, %v, want %q\n%s", code, err, tt.code, g.said())
			}
			if got := g.verdicts(); got != agent.VerdictAdmitted+"\n" {
				t.Errorf("verdicts = %q", got)
			}
			if name == "Passes" && !strings.Contains(g.said(), "hook of 77") {
				t.Errorf("it printed %q", g.said())
			}
		})
	}
}

// S15: a job of the machine's run goes on, and the agent can read so before its first step.
func TestGuardJob_S15_Own(t *testing.T) {
	g := newGuarded(t)
	g.work("77")
	if err := g.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := g.verdicts(); got != agent.VerdictAdmitted+"\n" {
		t.Errorf("verdicts = %q", got)
	}
	if code, err := os.ReadFile(filepath.Join(g.dir, "hook")); err != nil || string(code) != "0\n" {
		t.Errorf("hook ended with %q, %v", code, err)
	}
}

// S15: the hook ends the worker of a job that may not run, however it comes to refuse it, and says why where
// the worker's listener reads it.
func TestGuardJob_S15_Refused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spoil   func(dir string) error
		says    string
		verdict string
	}{
		{"Foreign", func(string) error { return nil }, `remuda refused this job: run "78"`, agent.VerdictRefused + "\n"},
		{"StateMissing", func(dir string) error { return os.Remove(filepath.Join(dir, "agent-state.json")) }, "read state", agent.VerdictRefused + "\n"},
		{"StateBroken", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "agent-state.json"), []byte("{"), 0o644)
		}, "decode state", agent.VerdictRefused + "\n"},
		{"NothingToNoteIn", func(dir string) error { return os.Remove(filepath.Join(dir, agent.VerdictFile)) }, "remuda refused", ""},
		{"NoProgram", func(dir string) error { return agent.WriteHook(dir, filepath.Join(dir, "none"), "") }, "", ""},
		{"ProgramFails", func(dir string) error { return agent.WriteHook(dir, "/bin/false", "") }, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuarded(t)
			if err := tt.spoil(g.dir); err != nil {
				t.Fatal(err)
			}
			g.work("78")
			g.wantKilled()
			if !strings.Contains(g.out.String(), tt.says) || strings.Count(g.out.String(), "\n") > 1 {
				t.Errorf("the worker's last words are %q, want one line with %q", g.out.String(), tt.says)
			}
			if got := g.verdicts(); got != tt.verdict {
				t.Errorf("verdicts = %q, want %q", got, tt.verdict)
			}
		})
	}
}

// S15: signals to any process of the hook do not let a step through, nor does the end of the program that
// judges. They begin once its shell has started the program: the runner itself sends none before, and
// none to a hook of a job that goes on (GuardJob).
func TestGuardJob_S15_Signals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signals []syscall.Signal
	}{
		{"Gentle", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}},
		{"ProgramKilled", []syscall.Signal{syscall.SIGKILL}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuarded(t)
			g.work("78")
			ended := make(chan struct{})
			harassed := make(chan int)
			go func() {
				n, begun := 0, false
				defer func() { harassed <- n }()
				for {
					select {
					case <-ended:
						return
					case <-time.After(time.Millisecond):
					}
					below, err := process.Search{Ancestor: g.cmd.Process.Pid}.Find()
					if begun = begun || len(below) > 1; err != nil || !begun {
						continue
					}
					for _, ref := range below {
						shell := shellOf(ref)
						if tt.signals[0] == syscall.SIGKILL && shell {
							continue // who is killed himself keeps no one
						}
						for _, sig := range tt.signals {
							if process.Signal(ref, sig) == nil {
								n++
							}
						}
					}
				}
			}()
			g.wantKilled()
			close(ended)
			if n := <-harassed; n == 0 {
				t.Error("no signal was sent, so nothing is shown")
			}
		})
	}
}

// shellOf reports whether a process is the hook's shell, by the name it has now.
func shellOf(ref process.Ref) bool {
	above, err := process.Ancestors(ref.PID)
	if err != nil || len(above) == 0 {
		return true // it has just ended
	}
	return above[0].Name == "Runner.Worker"
}

// S15 S84: a job that ended without a verdict costs the machine: it takes no further job, says why, and does
// so after a restart of the agent and after its run.
func TestUnjudged_S15_S84(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), bubble(func(w *world) {
			l := w.online(mode)
			l.StartJob()
			l.FinishUnjudged()
			w.waitFor(store.RemoveFailed)
			if got, _ := w.said(); !strings.Contains(got.Detail, "did not judge") {
				w.t.Errorf("signal = %+v, want why", got)
			}
			if alive := w.runner.Alive(); len(alive) > 0 {
				w.t.Errorf("%d listeners are alive", len(alive))
			}
			w.grant(mode)
			time.Sleep(time.Minute)
			w.restart()
			time.Sleep(time.Minute)
			if alive := w.runner.Alive(); len(alive) > 0 {
				w.t.Errorf("new material was used")
			}
			w.release(store.ReleaseDrain)
			w.waitFor(store.RemoveFailed)
		}))
	}
}

// S15: a job that the hook refused costs nothing.
func TestRefused_S15(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		l.StartJob()
		l.FinishRefused()
		w.waitFor(store.RegNext)
		w.grant(store.JIT)
		w.waitFor(store.RegOK)
	})
}
