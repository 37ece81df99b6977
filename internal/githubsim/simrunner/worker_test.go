//go:build unix

package simrunner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// A failed hook is an ordinary step that failed (StepsRunner.cs): what is to run always, runs.
func TestHook_Fails_StepsThatRunAlwaysDo(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	log := filepath.Join(t.TempDir(), "log")
	echo := func(word string) string { return fmt.Sprintf("echo %s >>'%s'\n", word, log) }
	env := append(os.Environ(),
		"ACTIONS_RUNNER_HOOK_JOB_STARTED="+script(t, "no.sh", echo("started")+"exit 1\n"),
		"ACTIONS_RUNNER_HOOK_JOB_COMPLETED="+script(t, "completed.sh", echo("completed")))
	s := w.start(t, t.TempDir(), env, "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Pre: echo("pre"), Script: echo("step"), Always: echo("always"), Post: echo("post")})
	check(t, "run", s.ended(t), 0, s)
	w.concluded(t, "j", githubsim.Failure)
	awaitFile(t, log, "started\npre\nalways\npost\ncompleted\n")
}

// A job that GitHub cancels still runs the steps that run always; one whose runner is stopped runs none.
func TestCut_StepsAfterwards(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cut   func(t *testing.T, w *world, s *started)
		steps string
		want  githubsim.Conclusion
	}{
		{"Cancelled", func(t *testing.T, w *world, _ *started) {
			must(t, w.Cancel("j"))
		}, "step\nalways\npost\n", githubsim.Cancelled},
		{"Stopped", func(_ *testing.T, _ *world, s *started) { s.stop() }, "step\n", githubsim.Failure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubsim.Options{})
			log := filepath.Join(t.TempDir(), "log")
			echo := func(word string) string { return fmt.Sprintf("echo %s >>'%s'\n", word, log) }
			s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
			w.submit(t, githubsim.Job{ID: "j", Label: "a", Name: "long", Script: echo("step") + "sleep 1000\n", Always: echo("always"), Post: echo("post")})
			awaitFile(t, log, "step\n")
			tt.cut(t, w, s)
			check(t, "run", s.ended(t), 0, s)
			w.concluded(t, "j", tt.want)
			s.out.has(t, "Job long completed with result: Canceled")
			awaitFile(t, log, tt.steps)
		})
	}
}

// The play worker-killed: the listener reports at once, says why to people, and goes on.
func TestWorker_Killed(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	s := w.start(t, dir, os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	log := filepath.Join(t.TempDir(), "log")
	w.submit(t, githubsim.Job{
		ID: "j", Label: "a", Name: "job-1", Always: "echo always >>" + log,
		Script: `echo "$PPID" >` + log + `; echo 'out of memory' >/proc/$PPID/fd/1; kill -9 $PPID; sleep 1000`,
	})
	check(t, "run", s.ended(t), 0, s)
	rec := w.completed(t, "j")
	if rec.Conclusion != githubsim.Failure || rec.Annotation != "out of memory\n" {
		t.Errorf("job = %+v, want a failure with the worker's last words", rec)
	}
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	last := lines[max(0, len(lines)-3):]
	if !strings.HasSuffix(last[0], ": Job job-1 completed with result: Failed") || !slices.Equal(last[1:], []string{"√ Removed .credentials", "√ Removed .runner"}) {
		t.Errorf("output = %s", s.out)
	}
	if got := awaitFile(t, log, ""); strings.Contains(got, "always") {
		t.Errorf("log = %s, want no step after the worker's end", got)
	}
}

// The play listener-killed: the worker ends its job and reports it itself.
func TestListener_Killed_WorkerReports(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now()) // no session times out while it stands still
	w := newWorld(t, githubsim.Options{Clock: clk})
	cmd, out := spawn(t, filepath.Join(installed(t), "bin", "Runner.Listener"), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	gate := filepath.Join(t.TempDir(), "gate")
	must(t, syscall.Mkfifo(gate, 0o600))
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Name: "long", Script: "read line <" + gate})
	out.await(t, "Running job: long")
	f, err := os.OpenFile(gate, os.O_WRONLY, 0) // returns once the step is there
	must(t, err)
	defer f.Close()
	must(t, cmd.Process.Kill())
	exitCode(t, cmd)
	_, err = f.WriteString("go on\n")
	must(t, err)
	if got := w.completed(t, "j"); got.Conclusion != githubsim.Success {
		t.Errorf("job = %+v, want success", got)
	}
}

// The worker is a child of the listener, known by its name, with a pipe as its output, and knows nothing that
// steps could read in its environment.
func TestWorker_Process(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	log := filepath.Join(t.TempDir(), "log")
	s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: `exec >` + log + `
tr '\0' ' ' </proc/$PPID/cmdline; echo
readlink /proc/$PPID/fd/1
grep PPid: /proc/$PPID/status
ls /proc/self/fd`})
	check(t, "run", s.ended(t), 0, s)
	got := strings.Split(awaitFile(t, log, ""), "\n")
	if len(got) < 3 || !strings.Contains(got[0], "/bin/Runner.Worker ") || !strings.HasPrefix(got[1], "pipe:") ||
		got[2] != fmt.Sprintf("PPid:\t%d", os.Getpid()) {
		t.Errorf("worker = %q", got)
	}
	if slices.Contains(got, "4") { // 3 is what ls reads
		t.Errorf("a step inherits descriptors: %q", got[3:])
	}
}
