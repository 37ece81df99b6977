// Package program builds the program under test for the tests that drive it from outside.
package program

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// Tests are those of one package.
type Tests struct {
	// Parallel is how many run at once unless -parallel says otherwise: they wait for other processes
	// most of the time. "": as many as there are processors.
	Parallel string
	Flags    []string // of go build, beside those of make build
	// Ready is called with the path of the program before the first test; stop, which may be nil, after the last.
	Ready func(binary string) (stop func(), err error)
}

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
	binary := filepath.Join(dir, "remuda")
	build := exec.Command("go", append(append([]string{"build", "-trimpath"}, t.Flags...), "-o", binary, "github.com/remuda-run/remuda/cmd/remuda")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does: what is tested is what is used
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fail("build remuda:", err)
	}
	stop, err := t.Ready(binary)
	if err != nil {
		return fail("build remuda:", err)
	}
	code := m.Run()
	if stop != nil {
		stop()
	}
	if err := goleak.Find(); code == 0 && err != nil {
		return fail("", err)
	}
	return code
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
