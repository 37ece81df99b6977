// Package program builds the program under test for the tests that drive it from outside.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Tests are those of one package.
type Tests struct {
	// Parallel is how many run at once unless -parallel says otherwise: they wait for other processes
	// most of the time. "": as many as there are processors.
	Parallel string
	Flags    []string     // of go build, beside those of make build
	Ready    func() error // before the first test; may be nil
	Stop     func()       // after the last; may be nil
}

// Binary is the path of the program under test, built once.
var Binary string

// Run builds the program, runs the tests, looks for goroutines that they left, and returns the exit code.
func (t Tests) Run(m *testing.M) int {
	fail := func(what string, err error) int {
		fmt.Fprintln(os.Stderr, what, err)
		return 1
	}
	if err := t.parallel(); err != nil {
		return fail("-parallel:", err)
	}
	dir, err := os.MkdirTemp("", "remuda-e2e-")
	if err != nil {
		return fail("build remuda:", err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "build remuda:", err) // the tests have been judged by now
		}
	}()
	Binary = filepath.Join(dir, "remuda")
	if err := t.build(); err != nil {
		return fail("build remuda:", err)
	}
	if t.Ready != nil {
		if err := t.Ready(); err != nil {
			return fail("build remuda:", err)
		}
	}
	code := m.Run()
	if t.Stop != nil {
		t.Stop()
	}
	if err := goleak.Find(); code == 0 && err != nil {
		return fail("", err)
	}
	return code
}

// build copies the program that make has built. Without make, or with other flags, it builds one as make does.
func (t Tests) build() error {
	if built := os.Getenv("REMUDA_TEST_BINARY"); built != "" && len(t.Flags) == 0 {
		data, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		return os.WriteFile(Binary, data, 0o755)
	}
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-tags=grpcnotrace"}, t.Flags...), "-o", Binary, "github.com/remuda-run/remuda/cmd/remuda")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	return build.Run()
}

// Long leaves a test out of a run with -short, which then says why it takes long.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s: make check runs it", why)
	}
}

func (t Tests) parallel() error {
	flag.Parse()
	given := t.Parallel == ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", t.Parallel)
}

// T is a test that ends on an error. Only its own goroutine may use it.
type T struct{ testing.TB }

// Check ends the test on an error.
func (t T) Check(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Until waits for a condition that another process brings about.
func Until(limit time.Duration, what string, holds func() bool) error {
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s", what, limit)
		}
	}
	return nil
}

// Run runs one command line of the program and returns what it printed, also if it fails.
func Run(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	return RunWith(ctx, Binary, dir, env, args...)
}

// RunWith is Run with another program, such as an earlier one.
func RunWith(ctx context.Context, program, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &problems
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("remuda %s: %w: %s", strings.Join(args, " "), errors.Join(err, context.Cause(ctx)), strings.TrimSpace(problems.String()))
	}
	return out.Bytes(), nil
}

// JSON reads what a command line printed.
func JSON[V any](out []byte, err error) (v V, _ error) {
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	return v, err
}
