package action_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/awstest"
)

// minNode is the oldest version of Node.js that has what the action uses.
const minNode = 20

// installLimit bounds npm ci. Measured on two cores: 10 s to 15 s, and more than 5 min where 60 others wanted them.
const installLimit = 15 * time.Minute

// The action passes its own tests, and its bundle is what its sources make. Everything runs on a copy, so
// that a checkout stays as it is. The names of those tests carry what they prove: S80, S89, H13, H34, H41.
func TestAction(t *testing.T) {
	requireNode(t)
	dir := checkout(t)
	t.Run("Test", func(t *testing.T) { run(t, dir, nil, "npm", "test") })
	t.Run("Bundle", func(t *testing.T) {
		run(t, dir, nil, "npm", "run", "build", "--", "--out", "again")
		if diff := cmp.Diff(tree(t, "dist"), tree(t, filepath.Join(dir, "again"))); diff != "" {
			t.Errorf("action/dist is not what the sources make: run make action:\n%.2000s", diff)
		}
	})
	t.Run("LocalAction", func(t *testing.T) { localAction(t, filepath.Dir(dir)) })
}

// requireNode skips the test, or fails it where nothing may be left out, if there is no Node.js with npm.
func requireNode(t *testing.T) {
	t.Helper()
	missing := ""
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = program + " is not installed"
		}
	}
	if missing == "" {
		version := strings.TrimSpace(run(t, "", nil, "node", "--version"))
		major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
		if n, err := strconv.Atoi(major); err != nil || n < minNode {
			missing = "node is " + version + ", older than " + strconv.Itoa(minNode)
		}
	}
	switch {
	case missing == "":
	case os.Getenv(awstest.EnvRequire) == "1":
		t.Fatal(missing)
	default:
		_ = os.Getenv("REMUDA_TEST_RUN") // go test must not take this result from its cache
		t.Skipf("left out: tests of the action: %s", missing)
	}
}

// checkout returns the folder action in a copy of what the action's tests read, with its packages. Files are read
// here, so that go test knows of them and runs again when one has changed.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "action.yml"), read(t, "action.yml"))
	for _, part := range []string{"action", "store/testdata"} {
		for name, text := range tree(t, part) {
			write(t, filepath.Join(dir, part, name), []byte(text))
		}
	}
	action := filepath.Join(dir, "action")
	if err := os.Symlink(filepath.Join(installed(t, "action"), "node_modules"), filepath.Join(action, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return action
}

// tree returns the files below a folder of the repository, or of the action if there is none, or of any
// place. Packages and what tests leave behind are no part of it.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	if folder == "dist" {
		folder = "action/dist"
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(root, folder)
	}
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "build"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// installed returns a folder that holds the packages of a package.json below the root. It is kept: its name is a hash of
// everything that decides what is in it.
func installed(t *testing.T, folder string) string {
	t.Helper()
	hash := sha256.New()
	pins := map[string][]byte{}
	for _, name := range []string{".npmrc", "package.json", "package-lock.json"} {
		pins[name] = read(t, filepath.Join(folder, name))
		hash.Write(pins[name])
	}
	hash.Write([]byte(run(t, "", nil, "node", "-p", "process.version + process.platform + process.arch")))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "remuda", "npm-"+hex.EncodeToString(hash.Sum(nil))[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		t.Fatal(err)
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), "npm-partial-") //nolint:usetesting // beside dir, since it becomes dir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(partial) })
	for name, text := range pins {
		write(t, filepath.Join(partial, name), text)
	}
	run(t, partial, nil, "npm", "ci")
	if err := os.Rename(partial, dir); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
		t.Fatal(err)
	}
	return dir
}

// run runs a program to its end and returns its output. It must succeed.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, failures(out.String()))
	}
	return out.String()
}

// failures leaves out what went well of the output of node --test.
func failures(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "# Subtest") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
