package agent

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/store"
)

// H43: a machine keeps its key over restarts of its agent, and its user alone can read it. One that cannot be read is
// another one; another machine, made of this one's image, has its own.
func TestKey_OutlivesTheAgent_H43(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	open := func() store.MachineKey {
		t.Helper()
		key, err := openKey(dir, log)
		if err != nil {
			t.Fatalf("openKey() error = %v", err)
		}
		return key
	}
	first := open().Public()
	path := filepath.Join(dir, keyFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want a file with mode 0600", info, err)
	}
	if again := open().Public(); again != first {
		t.Error("a restarted agent has another key")
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 7), 0o600); err != nil {
		t.Fatal(err)
	}
	second := open().Public()
	if second == first || open().Public() != second {
		t.Error("a broken key was not replaced once")
	}
	if err := Forget(dir); err != nil {
		t.Fatalf("Forget() error = %v", err)
	}
	if third := open().Public(); third == second {
		t.Error("another machine has the same key")
	}
}
