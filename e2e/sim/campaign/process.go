package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// hasty are the flags of a program that tells one story: it is built in little more than half the time, without what would
// make it quick itself.
var hasty = []string{"-vet=off", "-ldflags=-s -w", "-gcflags=github.com/remuda-run/remuda/...=-N -l"}

// build makes the simulation's test program, with the files of an overlay if one is named. It returns what the
// compiler said.
func build(ctx context.Context, root, program, overlay string, flags ...string) (string, error) {
	args := append([]string{"test", "-c", "-o", program}, flags...)
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := command(ctx, root, "go", append(args, "./e2e/sim")...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// command is a process that is asked to end, with all it started, when ctx does.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// test1 runs one process of the simulation's tests and returns what it said, without the lines that onLine took, and the time
// of a processor that it took.
func test1(ctx context.Context, root, program string, onLine func(line string) bool, args ...string) (string, time.Duration, error) {
	cmd := command(ctx, filepath.Join(root, "e2e", "sim"), program, append(args, "-test.v", "-test.timeout=0")...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	lines := &lineReader{onLine: onLine}
	cmd.Stdout, cmd.Stderr = lines, lines
	err := cmd.Run()
	text := lines.end()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(text, "--- FAIL") {
		err = errFailed
	}
	return text, processorTime(cmd), err
}

func processorTime(cmd *exec.Cmd) time.Duration {
	if s := cmd.ProcessState; s != nil {
		return s.UserTime() + s.SystemTime()
	}
	return 0
}

// errFailed says that a test failed, rather than died.
var errFailed = errors.New("the test failed")

// lineReader reads what a process writes, line by line.
type lineReader struct {
	onLine func(line string) bool // takes what is not for people; nil: nothing
	rest   []byte                 // of a line that has no end yet
	text   bytes.Buffer
}

// enough is how much a process may say: a test that fails in a loop says much.
const enough = 8 << 20

// Write implements io.Writer.
func (e *lineReader) Write(text []byte) (int, error) {
	e.rest = append(e.rest, text...)
	for {
		line, rest, whole := bytes.Cut(e.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		if e.onLine == nil || !e.onLine(string(line)) {
			e.keep(line)
		}
		e.rest = rest
	}
}

func (e *lineReader) keep(line []byte) {
	if e.text.Len() < enough {
		e.text.Write(append(line, '\n'))
	}
}

// end returns all that nobody took.
func (e *lineReader) end() string {
	if len(e.rest) > 0 {
		e.keep(e.rest)
	}
	return e.text.String()
}

// progresses takes the lines of lived.Progress.
func progresses(add func(lived.Progress)) func(line string) bool {
	return func(line string) bool {
		text, ok := strings.CutPrefix(line, lived.Mark)
		var p lived.Progress
		if !ok || json.Unmarshal([]byte(text), &p) != nil {
			return false
		}
		add(p)
		return true
	}
}
