package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// earlierCommit stands for the version before this one until there is a tag of a release.
const earlierCommit = "048055be"

// Earlier is the version before this one, from the history of this repository.
type Earlier struct {
	Name   string // of its tag or commit
	Source string // folder of its sources
	Binary string
}

// BuildEarlier builds the last release, or what stands for it, in a folder that the test removes.
func BuildEarlier(t testing.TB) Earlier {
	t.Helper()
	e := Earlier{Name: earlierCommit, Source: t.TempDir()}
	root, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatalf("the version before this one is built from the history of this repository, which must be here: %v", err)
	}
	// HEAD itself may be what is released: the release before it counts.
	if tag, err := output(root, "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^"); err == nil {
		e.Name = tag
	}
	archive := filepath.Join(e.Source, "source.tar")
	if _, err := output(root, "git", "archive", "--format=tar", "--output", archive, e.Name); err != nil {
		t.Fatalf("the version before this one, %s, must be in the history: fetch all of it (git fetch --unshallow --tags): %v", e.Name, err)
	}
	if _, err := output(e.Source, "tar", "-xf", archive); err != nil {
		t.Fatal(err)
	}
	e.Binary = filepath.Join(e.Source, "remuda-earlier")
	build := exec.Command("go", "build", "-trimpath", "-tags=grpcnotrace", "-o", e.Binary, "./cmd/remuda")
	build.Dir, build.Env = e.Source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", e.Name, err, out)
	}
	return e
}

// output runs a command and returns what it printed, without the end of the line.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
