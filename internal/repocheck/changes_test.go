package repocheck_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kept are changes of docs/architecture.md#where-do-i-change, each with the package whose tests prove it.
var kept = map[string]string{"aws-error": "./internal/awserr", "config-key": "./internal/config", "law": "./reconciler/audit"}

// mostChanged is how many files such a change may touch, tests and generated documents aside.
const mostChanged = 3

// The walk is true: a change made where it says so applies, builds and passes, and touches few files.
func TestChanges_WhereTheWalkSays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program anew: make check runs it")
	}
	copied := t.TempDir()
	for _, name := range strings.Fields(run(t, root, "git", "ls-files")) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(copied, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []string{"test"}
	for name, pkg := range kept {
		patch, err := filepath.Abs(filepath.Join("testdata", "changes", name+".patch"))
		if err != nil {
			t.Fatal(err)
		}
		touched := 0
		for _, line := range strings.Split(run(t, copied, "git", "apply", "--numstat", patch), "\n") {
			if line != "" && !strings.HasSuffix(line, "_test.go") {
				touched++
			}
		}
		if touched > mostChanged {
			t.Errorf("%s touches %d files, want at most %d", name, touched, mostChanged)
		}
		run(t, copied, "git", "apply", patch)
		tests = append(tests, pkg)
	}
	run(t, copied, "go", "build", "-o", os.DevNull, "./cmd/remuda")
	run(t, copied, "go", tests...)
}

// run runs a command in a folder and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
