package agenttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
)

// Shell is a Command that runs a shell script with the mark of an instance.
func Shell(t testing.TB, id, script string) agent.Command {
	t.Helper()
	return agent.Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(), Log: filepath.Join(t.TempDir(), "log"),
		Env: []string{"PATH=" + os.Getenv("PATH"), agent.EnvMarker + "=" + id},
	}
}

// Instance names an instance of this test alone, and ends its processes afterwards.
func Instance(t testing.TB) string {
	t.Helper()
	id := fmt.Sprintf("i-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())
	t.Cleanup(func() {
		Eventually(t, "no process is left", func() bool {
			left, err := process.Find(agent.EnvMarker, id)
			return err == nil && process.KillAll(left...) == nil && len(left) == 0
		})
	})
	return id
}

// Eventually waits for ok, for a minute at most.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Write makes a file and the folders above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}
