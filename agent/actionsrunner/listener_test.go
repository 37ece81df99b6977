//go:build unix

package actionsrunner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// The states of a listener follow its output (H71: online means listening).
func TestListener_FollowsOutput_H71(t *testing.T) {
	w := newWorld(t)
	l := w.start(store.JIT)
	if st := l.Status(); st.State != agent.Starting || st.Online || st.RunnerID != 33 {
		t.Fatalf("status = %+v, want starting, runner 33", st)
	}
	w.tell("cry A session for this runner already exists.")
	if st := w.want(l, agent.Blocked); st.Cause != agent.CauseConflict || !strings.Contains(st.Detail, "already exists") {
		t.Errorf("status = %+v, want blocked by a conflict, with the line", st)
	}
	w.tell("say Listening for Jobs")
	if st := w.want(l, agent.Listening); !st.Online || st.Cause != "" || st.Jobs != 0 {
		t.Errorf("status = %+v, want online, no cause, no job", st)
	}
	select {
	case <-l.Changed():
	default:
		t.Error("the change was not announced")
	}
	w.tell("say Running job: build")
	if st := w.want(l, agent.Busy); st.Jobs != 1 {
		t.Errorf("status = %+v, want one job", st)
	}
	w.tell("say Runner connect error: timeout. Retrying until reconnected.")
	w.tell("say Job build completed with result: Succeeded")
	w.want(l, agent.Listening)
	w.tell("cry line before the end")
	w.tell("exit 0")
	if st := w.want(l, agent.Exited); st.Exit != agent.ExitOK || !strings.HasSuffix(st.Detail, "line before the end") {
		t.Errorf("status = %+v, want exit 0 with the last line", st)
	}
}

// What a listener writes is seen at once, and not with the next look, also by an agent that found it running.
func TestListener_G1_SeenAsItIsWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's inotify")
	}
	w := newWorld(t)
	w.options.Clock = deaf{}
	l := w.start(store.JIT)
	w.tell("say Listening for Jobs")
	w.want(l, agent.Listening)
	w.tell("say Running job: build")
	w.want(l, agent.Busy)
	w.tell("say Job build completed with result: Succeeded")
	w.want(l, agent.Listening)
	ref := l.Ref()
	l.Detach()
	found, err := w.runner().Adopt(t.Context(), ref, "run-1")
	if err != nil || found == nil {
		t.Fatalf("Adopt = %v, %v", found, err)
	}
	defer found.Detach()
	w.tell("say Running job: test")
	w.want(found, agent.Busy)
}

// Every exit status is the true one.
func TestListener_ExitStatus_H71(t *testing.T) {
	for command, want := range map[string]int{
		"exit 0": agent.ExitOK, "exit 1": agent.ExitTerminated, "exit 2": agent.ExitRetryable,
		"exit 3": agent.ExitUpdating, "exit 4": agent.ExitUpdatingOnce, "exit 5": agent.ExitConflict,
		"exit 6": agent.ExitInternal, "exit 7": agent.ExitDeprecated, "die": 128 + int(syscall.SIGSEGV),
	} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t)
			l := w.start(store.JIT)
			w.tell(command)
			if st := w.want(l, agent.Exited); st.Exit != want {
				t.Errorf("exit = %d, want %d", st.Exit, want)
			}
		})
	}
}

// H50: a program that replaced itself, or began to, is put back before it runs again; any other end
// leaves it alone.
func TestListener_ReplacedItself_PutBack_H50(t *testing.T) {
	for _, tt := range []struct {
		commands []string
		puts     int
	}{
		{[]string{"exit 3"}, 2},
		{[]string{"exit 4"}, 2},
		{[]string{"cry Runner update in progress, do not shutdown runner.", "exit 1"}, 2},
		{[]string{"exit 1"}, 1},
		{[]string{"exit 6"}, 1},
	} {
		t.Run(strings.Join(tt.commands, ","), func(t *testing.T) {
			w := newWorld(t)
			if err := os.Remove(filepath.Join(w.dir, "bin/Runner.Listener")); err != nil {
				t.Fatal(err)
			}
			puts := 0
			w.options.Prepare = func(context.Context) error {
				if !w.has("bin/Runner.Listener") {
					puts++
					w.write("bin/Runner.Listener", program)
				}
				return nil
			}
			r := w.runner()
			for range 2 {
				l, err := r.Start(context.Background(), registration(store.JIT), "run-1")
				if err != nil {
					t.Fatalf("Start = %v", err)
				}
				for _, c := range tt.commands {
					w.tell(c)
				}
				w.want(l, agent.Exited)
				l.Detach()
			}
			if puts != tt.puts {
				t.Errorf("the program was put there %d times, want %d", puts, tt.puts)
			}
		})
	}
}

// The listener runs in a group of its own, sees only what it was given, and its secret is in no
// command line.
func TestStart_EnvironmentAndSecret_S14_S18(t *testing.T) {
	t.Setenv("AGENTS_OWN_SECRET", "must stay")
	w := newWorld(t)
	l := w.listening(store.JIT)
	if got := strings.TrimSpace(w.read("args")); got != "run" {
		t.Errorf("arguments = %q, want run", got)
	}
	env := w.read("env")
	for _, want := range []string{
		"ACTIONS_RUNNER_INPUT_JITCONFIG=hush-hush", "ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE=1",
		agent.HookEnv + "=" + w.options.Hook, agent.EnvMarker + "=" + w.options.InstanceID, "HOME=" + w.dir,
	} {
		if !strings.Contains(env, want+"\n") {
			t.Errorf("environment lacks %q:\n%s", want, env)
		}
	}
	if strings.Contains(env, "AGENTS_OWN_SECRET") {
		t.Error("the listener inherited the agent's environment")
	}
	group, err := syscall.Getpgid(l.Ref().PID)
	if err != nil || group != l.Ref().PID {
		t.Errorf("process group = %d, %v; want its own, %d", group, err, l.Ref().PID)
	}
	info, err := os.Stat(w.options.Log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log = %v, %v; want it readable by the agent only", info, err)
	}
}

// S17 H39: a stop is gentle first, and leaves no process.
func TestStop_LeavesNothing_S17_H39(t *testing.T) {
	w := newWorld(t)
	l := w.listening(store.Token)
	w.tell("daemon") // in a session, and so a group, of its own
	child := w.child()
	if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil {
		t.Fatalf("Stop = %v", err)
	}
	if st := l.Status(); st.State != agent.Exited || st.Exit != 0 || !strings.Contains(st.Detail, "Exiting...") {
		t.Errorf("status = %+v, want a clean exit", st)
	}
	if child.Alive() {
		t.Error("a child lives on")
	}
	if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil {
		t.Errorf("Stop of an ended listener = %v", err)
	}
}

// What ignores signals is killed.
func TestStop_Stubborn_Killed(t *testing.T) {
	w := newWorld(t)
	w.options.Clock = impatient
	l := w.start(store.JIT)
	w.tell("stubborn")
	w.want(l, agent.Listening)
	if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil {
		t.Fatalf("Stop = %v", err)
	}
	if st := l.Status(); st.State != agent.Exited || st.Exit != 128+int(syscall.SIGKILL) {
		t.Errorf("status = %+v, want killed", st)
	}
}

// H38: a job is not touched unless the run was cancelled.
func TestStop_Busy_OnlyNow_H38(t *testing.T) {
	w := newWorld(t)
	l := w.start(store.JIT)
	w.tell("say Running job: build")
	w.want(l, agent.Busy)
	if err := l.Stop(context.Background(), store.ReleaseDrain); !errors.Is(err, agent.ErrBusy) {
		t.Fatalf("Stop(drain) = %v, want ErrBusy", err)
	}
	w.tell("cry it still works")
	w.tell("say Job build completed with result: Succeeded")
	w.want(l, agent.Listening)
	w.tell("say Running job: test")
	w.want(l, agent.Busy)
	if err := l.Stop(context.Background(), store.ReleaseNow); err != nil || l.Status().State != agent.Exited {
		t.Errorf("Stop(now) = %v, status %+v; want it ended", err, l.Status())
	}
}

// A stop ends when its context does.
func TestStop_ContextEnds(t *testing.T) {
	w := newWorld(t)
	l := w.start(store.JIT)
	w.tell("stubborn")
	w.want(l, agent.Listening)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := l.Stop(ctx, store.ReleaseDrain); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop = %v, want context.DeadlineExceeded", err)
	}
}

// A worker that outlives its listener is ended with it, even one that has lost the mark.
func TestListener_Dies_WorkerToo_H39(t *testing.T) {
	for _, kind := range []string{"child", "orphan"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			l := w.start(store.JIT)
			w.tell(kind)
			child := w.child()
			w.tell("exit 1")
			w.want(l, agent.Exited)
			w.gone(child)
		})
	}
}

// H49: an agent that is started anew goes on with the listener of the last one, in the state that
// it is in.
func TestAdopt_Alive_H49(t *testing.T) {
	w := newWorld(t)
	first := w.start(store.JIT)
	w.tell("say Listening for Jobs")
	w.tell("say Running job: build")
	w.want(first, agent.Busy)
	ref := first.Ref()
	first.Detach()
	w.tell("cry nobody listens")

	l, err := w.runner().Adopt(context.Background(), ref, "i-1-3")
	if err != nil || l == nil {
		t.Fatalf("Adopt = %v, %v; want the listener", l, err)
	}
	defer l.Detach()
	if st := w.want(l, agent.Busy); st.Jobs != 1 || !st.Online {
		t.Errorf("status = %+v, want the job it is busy with", st)
	}
	w.tell("exit 0")
	if st := w.want(l, agent.Exited); st.Exit != agent.ExitUnknown || !strings.Contains(st.Detail, "nobody listens") {
		t.Errorf("status = %+v, want an unknown exit status and all its output", st)
	}
	if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil {
		t.Errorf("Stop = %v", err)
	}
}

// A listener that has ended is not adopted, and what it left is ended.
func TestAdopt_Ended_SweepsRest(t *testing.T) {
	w := newWorld(t)
	first := w.start(store.JIT)
	w.tell("child")
	child := w.child()
	ref := first.Ref()
	first.Detach()
	if err := process.Signal(ref, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.gone(ref)
	l, err := w.runner().Adopt(context.Background(), ref, "i-1-3")
	if err != nil || l != nil {
		t.Fatalf("Adopt = %v, %v; want none", l, err)
	}
	if child.Alive() {
		t.Error("a process of the dead listener lives on")
	}
}

// Output without end is a malfunction: it may not fill the disk.
func TestListener_Flood_Killed(t *testing.T) {
	w := newWorld(t)
	l := w.start(store.JIT)
	w.tell("flood")
	if st := w.want(l, agent.Exited); st.Exit != 128+int(syscall.SIGKILL) || !strings.Contains(st.Detail, "too much output") {
		t.Errorf("status = %+v, want killed for too much output", st)
	}
}

// Detach ends the observation only.
func TestDetach_ListenerLives(t *testing.T) {
	w := newWorld(t)
	l := w.listening(store.JIT)
	l.Detach()
	if !l.Ref().Alive() {
		t.Error("the listener ended")
	}
}
