// Command gotest runs go test, with one package more at a time than there are processors, as many
// packages mostly wait. It prints what go test prints, and at the end, in one line, what tests left
// out for want of a program. It keeps the complete stream of test events in a file, from which command
// acceptance reads which test passed.
//
// Usage: gotest -o file [arguments of go test]
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gotest: %v\n", err)
	}
	os.Exit(code)
}

// run returns the exit code of go test, or 2 with the error that kept it from running.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	if len(args) < 2 || args[0] != "-o" {
		return 2, errors.New("usage: gotest -o file [arguments of go test]")
	}
	name := args[1]
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 2, fmt.Errorf("create folder of %s: %w", name, err)
	}
	file, err := os.Create(name)
	if err != nil {
		return 2, fmt.Errorf("create %s: %w", name, err)
	}
	code, err := goTest(ctx, args[2:], stdout, stderr, file)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		return 2, fmt.Errorf("write %s: %w", name, closeErr)
	}
	return code, err
}

// goTest runs go test -json, copies its events to events and prints them to stdout as text.
func goTest(ctx context.Context, args []string, stdout, stderr, events io.Writer) (int, error) {
	atOnce := strconv.Itoa(runtime.NumCPU() + 1)
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-p", atOnce}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go then ends its test binaries
	cmd.Env = append(os.Environ(), envRun+"="+time.Now().Format(time.RFC3339Nano))
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 2, fmt.Errorf("open pipe to go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 2, fmt.Errorf("start go test: %w", err)
	}
	p := &printer{out: stdout, leftOut: leftOut{}}
	readErr := copyEvents(io.TeeReader(out, events), p)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out) // go test must not wait for a reader; readErr is what matters
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 2, fmt.Errorf("run go test: %w", err)
	}
	if readErr != nil {
		return 2, fmt.Errorf("read output of go test: %w", readErr)
	}
	code := cmd.ProcessState.ExitCode()
	if code == 1 { // go test ends so without -json
		if _, err := fmt.Fprintln(stdout, "FAIL"); err != nil {
			return 2, fmt.Errorf("print result: %w", err)
		}
	}
	if err := p.leftOut.print(stdout); err != nil {
		return 2, fmt.Errorf("print what was left out: %w", err)
	}
	return code, nil
}

// copyEvents prints every line of in. Lines have no length limit.
func copyEvents(in io.Reader, p *printer) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if err := p.line(line); err != nil {
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
