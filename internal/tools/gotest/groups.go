package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// separator stands between two groups of arguments.
const separator = "--"

// goTest runs go test -json once for each group of arguments, all at once, copies the events to events
// and prints them to stdout as text.
func goTest(ctx context.Context, args []string, stdout, stderr, events io.Writer) (int, error) {
	out := &output{events: events, text: printer{out: stdout, leftOut: leftOut{}}, stderr: stderr}
	code := 0
	tests, ctx := errgroup.WithContext(ctx)
	for _, group := range groups(args) {
		tests.Go(func() error {
			exit, err := out.run(ctx, group)
			out.mu.Lock()
			defer out.mu.Unlock()
			code = max(code, exit)
			return err
		})
	}
	if err := tests.Wait(); err != nil {
		return 2, err
	}
	if code == 1 { // go test ends so without -json
		if _, err := fmt.Fprintln(stdout, "FAIL"); err != nil {
			return 2, fmt.Errorf("print result: %w", err)
		}
	}
	if err := out.text.leftOut.print(stdout); err != nil {
		return 2, fmt.Errorf("print what was left out: %w", err)
	}
	return code, nil
}

// groups returns the arguments between one separator and the next.
func groups(args []string) (out [][]string) {
	for {
		end := slices.Index(args, separator)
		if end < 0 {
			return append(out, args)
		}
		out, args = append(out, args[:end]), args[end+1:]
	}
}

// output is where all that run at once write.
type output struct {
	mu     sync.Mutex
	events io.Writer
	text   printer
	stderr io.Writer
}

// Write writes to stderr.
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stderr.Write(text)
}

// line takes a line of what go test -json prints.
func (o *output) line(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.events.Write(line); err != nil {
		return err
	}
	return o.text.line(line)
}

// run runs go test with the arguments of one group and returns its exit code, or 2 with the error that
// kept it from running.
func (o *output) run(ctx context.Context, args []string) (int, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go then ends its test binaries
	cmd.Env = append(os.Environ(), envRun+"="+time.Now().Format(time.RFC3339Nano))
	if slices.Contains(args, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // the race detector is a C library
	}
	cmd.Stderr = o
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 2, fmt.Errorf("open pipe to go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 2, fmt.Errorf("start go test: %w", err)
	}
	readErr := copyEvents(out, o)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out) // go test must not wait for a reader; readErr is what matters
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		return 2, fmt.Errorf("run go test: %w", err)
	}
	if readErr != nil {
		return 2, fmt.Errorf("read output of go test: %w", readErr)
	}
	return cmd.ProcessState.ExitCode(), nil
}

// copyEvents hands every line of in to out. Lines have no length limit.
func copyEvents(in io.Reader, out *output) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if err := out.line(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
