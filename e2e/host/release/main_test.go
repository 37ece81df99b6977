//go:build linux

// Package release makes a release as its workflow does, and uses it as operators do: the package in a booted Debian, the
// image in a real container engine, and what is for arm64 under qemu.
package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
)

const root = "../../.."

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		_ = os.RemoveAll(made) // a folder below the one for temporary files
	}
	os.Exit(code)
}

var (
	making sync.Mutex
	made   string
)

// release makes one of the work tree, once for all tests, and returns its folder.
func release(t *testing.T) string {
	t.Helper()
	hosttest.Require(t, "go", "golang", "git", "git")
	making.Lock()
	defer making.Unlock()
	if made == "" {
		dir, err := os.MkdirTemp("", "remuda-release-test-") //nolint:usetesting // outlives the test that needs it first
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"-out", dir}
		if testing.Short() {
			args = append(args, "-only", "linux/amd64")
		}
		makeIn(t, root, args...)
		made = dir
	}
	return made
}

// everyTarget leaves a test out of a run with -short, which makes a release for this computer's kind alone.
func everyTarget(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program for every target: make host runs it")
	}
}

// makeIn makes a release of a checkout.
func makeIn(t *testing.T, checkout string, args ...string) {
	t.Helper()
	if out, err := tryIn(t, checkout, args...); err != nil {
		t.Fatalf("release: %v\n%s", err, out)
	}
}

func tryIn(t *testing.T, checkout string, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "-C", "tools/release", "."}, args...)...)
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	return cmd.CombinedOutput()
}

// one is the only file of a folder whose name fits.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v; want one", pattern, found, err)
	}
	return found[0]
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	return string(must(t, exec.CommandContext(t.Context(), name, args...)))
}

// must runs a command and returns what it printed.
func must(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, problems.String())
	}
	return out
}

// The same commit gives the same bytes in another folder, for every target with all that is made of it.
func TestRelease_SameBytesInAnotherFolder(t *testing.T) {
	everyTarget(t)
	hosttest.Require(t, "go", "golang", "git", "git")
	var sums []string
	for _, name := range []string{"a", "another-folder"} {
		checkout := clone(t, name)
		out := filepath.Join(t.TempDir(), "out")
		makeIn(t, checkout, "-out", out)
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
	}
	const files = 3 + 2*3 + 1 // an archive for each target, packages and an image for each of Linux, and the list of what is linked
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != files {
		t.Errorf("sums = %s and %s, want the same %d", sums[0], sums[1], files)
	}
	for _, part := range []string{"_linux_arm64.tar.gz", "_darwin_arm64.tar.gz", "_arm64.deb", ".aarch64.rpm", "_image_arm64.tar"} {
		if !strings.Contains(sums[0], part+"\n") {
			t.Errorf("no %s among\n%s", part, sums[0])
		}
	}
}

func clone(t *testing.T, name string) string {
	t.Helper()
	checkout := filepath.Join(t.TempDir(), name)
	output(t, "git", "clone", "--quiet", "--shared", root, checkout)
	return checkout
}

// What the action says of itself is what it is released as: a tag of another version makes no release.
func TestRelease_ActionHasItsVersion(t *testing.T) {
	hosttest.Require(t, "go", "golang", "git", "git")
	checkout := clone(t, "tagged")
	output(t, "git", "-C", checkout, "tag", "v98.7.6")
	out, err := tryIn(t, checkout, "-tag", "v98.7.6", "-out", filepath.Join(t.TempDir(), "out"))
	if err == nil || !strings.Contains(string(out), "action/package.json: version must be 98.7.6, that of -tag, got ") {
		t.Errorf("release: %v\n%s", err, out)
	}
}

// safe is a text that a process writes while a test reads it.
type safe struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *safe) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
