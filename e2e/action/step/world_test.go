package step

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// action makes one whose scripts are for the shell, which starts quicker than Node.js.
func action(t *testing.T, metadata string, scripts map[string]string) *Action {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	check(t, os.WriteFile(filepath.Join(dir, "action.yml"), []byte(metadata), 0o600))
	a, err := Load(dir)
	check(t, err)
	return a
}

// plain is the metadata of an action with nothing to it.
const plain = "runs: {using: node24, main: main.sh}\noutputs: {a: {}, b: {}}\n"

// job is one whose steps are for the shell and end soon after a signal.
func job(t *testing.T) *Job {
	t.Helper()
	return &Job{
		Dir: t.TempDir(), Node: "/bin/sh", Grace: Grace{200 * time.Millisecond, 100 * time.Millisecond},
		Context: map[string]string{"run_id": "4711", "run_attempt": "2"},
	}
}

// run runs one step of an action with one script.
func run(t *testing.T, script string) Result {
	t.Helper()
	r, err := job(t).Run(action(t, plain, map[string]string{"main.sh": script}), nil)
	check(t, err)
	return r
}

// shows waits until the step's log holds a line.
func shows(t *testing.T, s *Step, line string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		log := s.Result().Log
		for _, l := range log {
			if strings.Contains(l, line) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log does not say %q: %q", line, log)
		}
	}
}
