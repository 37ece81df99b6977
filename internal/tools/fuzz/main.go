// Command fuzz runs every fuzz target below a folder, one after the other, and lists them.
//
// Usage: fuzz [-time 10s] [-parallel 2] [folder]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "fuzz: %v\n", err)
		os.Exit(1)
	}
}

// target is one fuzz target.
type target struct{ dir, name string }

// form begins a target in a test file.
var form = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// run tries each target, those after a failed one too.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	each := flags.Duration("time", 10*time.Second, "for each target")
	parallel := flags.Int("parallel", runtime.GOMAXPROCS(0), "inputs tried at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root := "."
	if flags.NArg() > 0 {
		root = strings.TrimSuffix(flags.Arg(0), "/...")
	}
	targets, err := find(root)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target in %s", root)
	}
	var failed []string
	for i, t := range targets {
		fmt.Fprintf(out, "==> %d of %d: %s in %s\n", i+1, len(targets), t.name, t.dir)
		if err := try(ctx, t, *each, *parallel, out); err != nil {
			failed = append(failed, fmt.Sprintf("%s in %s: %v", t.name, t.dir, err))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d targets failed; go test repeats their inputs from testdata/fuzz:\n%s", len(failed), len(targets), strings.Join(failed, "\n"))
	}
	fmt.Fprintf(out, "%d targets, none failed\n", len(targets))
	return nil
}

// find returns the targets below root in the order of their files.
func find(root string) (targets []target, _ error) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range form.FindAllSubmatch(text, -1) {
			targets = append(targets, target{filepath.ToSlash(filepath.Dir(path)), string(found[1])})
		}
		return err
	})
	return targets, err
}

// try lets go test look for an input that fails t.
func try(ctx context.Context, t target, each time.Duration, parallel int, out io.Writer) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(),
		"-parallel", fmt.Sprint(parallel), ".")
	cmd.Dir = t.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go then ends its test binaries
	cmd.Stdout = io.MultiWriter(out, &said)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && outOfTime(said.String()) {
		fmt.Fprintln(out, "no input failed: go test counts the end of its time as a failure where it comes between two inputs")
		return nil
	}
	return err
}

// outOfTime reports whether all that go test complains of is that the time is over.
func outOfTime(said string) bool {
	_, after, failed := strings.Cut(said, "--- FAIL: Fuzz")
	_, after, _ = strings.Cut(after, "\n")
	return failed && strings.HasPrefix(strings.TrimSpace(after), "context deadline exceeded\nFAIL\n")
}
