//go:build linux

// Package node runs the action's stories on the Node.js that GitHub's runner has for it, whichever this computer has.
package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
)

// versions are of npm's package node: of what action.yml says the action uses, and of the oldest on which it is to run.
var versions = []string{"24.9.0", "20.19.5"}

// story is a whole run of the action, and one that is cancelled: what Node.js has a part in.
const story = "^(TestStory|TestCancel_GivesBack_H30)$"

// The committed bundle does its work on each version.
func TestAction_OnEachNode(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the stories twice: make host runs it")
	}
	hosttest.Require(t, "npm", "npm")
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			npm := exec.CommandContext(t.Context(), "npm", "install", "--no-fund", "--no-audit", "node@"+version)
			npm.Dir = dir
			if out, err := npm.CombinedOutput(); err != nil {
				t.Fatalf("npm: %v\n%s", err, out)
			}
			bin := filepath.Join(dir, "node_modules/node/bin")
			if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "node"), "--version").Output(); err != nil || strings.TrimSpace(string(out)) != "v"+version {
				t.Fatalf("node --version = %s, %v", out, err)
			}
			stories := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", story, "./e2e/action")
			stories.Dir = "../../.."
			stories.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := stories.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: ") || strings.Contains(string(out), "--- SKIP: ") {
				t.Errorf("stories on Node.js %s: %v\n%s", version, err, out)
			}
		})
	}
}
