//go:build unix

package simrunner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// script writes an executable file and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

func TestHooks_AroundTheJob(t *testing.T) {
	record := func(t *testing.T, log, word string) string {
		return script(t, word+".sh", fmt.Sprintf("echo %s $GITHUB_RUN_ID $GITHUB_REPOSITORY >>'%s'\n", word, log))
	}
	for _, tt := range []struct {
		name, reason      string
		started, complete func(t *testing.T, log string) string
		want              githubsim.Conclusion
		log               string
	}{
		{"Both", "in order, with the job's variables",
			func(t *testing.T, log string) string { return record(t, log, "started") },
			func(t *testing.T, log string) string { return record(t, log, "completed") },
			githubsim.Success, "started 7 acme/shop\njob\ncompleted 7 acme/shop\n"},
		{"StartedFails", "a job that does not belong here runs no step",
			func(t *testing.T, log string) string { return script(t, "no.sh", "exit 1\n") },
			func(t *testing.T, log string) string { return record(t, log, "completed") },
			githubsim.Failure, "completed 7 acme/shop\n"},
		{"StartedFailsInTheMiddle", "scripts run with -e",
			func(t *testing.T, log string) string { return script(t, "no.sh", "false\ntrue\n") },
			nil, githubsim.Failure, ""},
		{"StartedMissing", "a fence that is not there must not let anyone in",
			func(t *testing.T, log string) string { return log + "-none.sh" },
			nil, githubsim.Failure, ""},
		{"StartedIsNoScript", "the real runner takes .sh only",
			func(t *testing.T, log string) string { return script(t, "hook", "exit 0\n") },
			nil, githubsim.Failure, ""},
		{"CompletedFails", "a failed hook fails the job",
			nil, func(t *testing.T, log string) string { return script(t, "no.sh", "exit 1\n") },
			githubsim.Failure, "job\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubsim.Options{})
			log := filepath.Join(t.TempDir(), "log")
			must(t, os.WriteFile(log, nil, 0o600))
			env := os.Environ()
			if tt.started != nil {
				env = append(env, "ACTIONS_RUNNER_HOOK_JOB_STARTED="+tt.started(t, log))
			}
			if tt.complete != nil {
				env = append(env, "ACTIONS_RUNNER_HOOK_JOB_COMPLETED="+tt.complete(t, log))
			}
			s := w.start(t, t.TempDir(), env, "run", "--jitconfig", w.jit(t, "i-1-1", "7"))
			w.submit(t, githubsim.Job{ID: "j", RunID: "7", Repository: "acme/shop", Label: "7", Script: "echo job >>'" + log + "'"})
			check(t, "run", s.ended(t), 0, s)
			if got := w.completed(t, "j").Conclusion; got != tt.want {
				t.Errorf("conclusion = %s, want %s: %s", got, tt.want, tt.reason)
			}
			raw, err := os.ReadFile(log)
			if err != nil || string(raw) != tt.log {
				t.Errorf("log = %q, %v, want %q: %s", raw, err, tt.log, tt.reason)
			}
		})
	}
}

func TestCancel_InterruptsTheStep(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	w.timing.Interrupt = patience // the step obeys, however late its turn comes
	s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	mark := filepath.Join(t.TempDir(), "mark")
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: fmt.Sprintf(
		`trap 'echo interrupted >>"%[1]s"; exit 0' INT; echo up >>"%[1]s"; while :; do sleep 0.01; done`, mark)})
	awaitFile(t, mark, "up\n")
	must(t, w.Cancel("j"))
	check(t, "run", s.ended(t), 0, s)
	w.concluded(t, "j", githubsim.Cancelled)
	awaitFile(t, mark, "up\ninterrupted\n")
	s.out.has(t, "completed with result: Canceled")
}

func TestCancel_EndsTheWholeTreeOfAStubbornStep(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	pids := filepath.Join(t.TempDir(), "pids")
	// The child left its session and ignores everything, as a build server would.
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: fmt.Sprintf(
		`trap '' INT TERM; setsid sleep 1000 & echo "$! $$" >"%s.tmp"; mv "%[1]s.tmp" "%[1]s"; while :; do sleep 0.01; done`, pids)})
	var child, step int
	_, err := fmt.Sscan(awaitFile(t, pids, ""), &child, &step)
	must(t, err)
	must(t, w.Cancel("j"))
	check(t, "run", s.ended(t), 0, s)
	gone(t, child)
	gone(t, step)
}

func TestOrphans_EndWithTheJob(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	pid := filepath.Join(t.TempDir(), "pid")
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: fmt.Sprintf(`setsid sleep 1000 & echo $! >"%s"`, pid)})
	check(t, "run", s.ended(t), 0, s)
	n, err := strconv.Atoi(strings.TrimSpace(awaitFile(t, pid, "")))
	must(t, err)
	w.concluded(t, "j", githubsim.Success)
	gone(t, n)
}

// gone waits for the end of a process that was killed before the job was over.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the job's process is gone", func() error {
		if alive(pid) {
			return fmt.Errorf("process %d lives", pid)
		}
		return nil
	})
}

// alive reports whether pid runs; a zombie does not.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, state, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(state, "Z")
}

// awaitFile waits until a file has the wanted content, or any if want is empty.
func awaitFile(t *testing.T, path, want string) string {
	t.Helper()
	var raw []byte
	eventually(t, path+" is written", func() (err error) {
		if raw, err = os.ReadFile(path); err == nil && (len(raw) == 0 || want != "" && string(raw) != want) {
			err = fmt.Errorf("content is %q, want %q", raw, want)
		}
		return err
	})
	return string(raw)
}

// eventually waits for what only the operating system can tell.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	ctx := bounded(t)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("wait until %s: %v", what, err)
		}
	}
}
