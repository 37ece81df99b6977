package machinelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
)

// id is that of the nth machine.
func id(n int) string { return fmt.Sprintf("i-%017x", n) }

// put keeps a log of the nth machine, of now.
func put(t *testing.T, f Folder, n int, text string) {
	t.Helper()
	l := Log{InstanceID: id(n), TakenAt: time.Now().UTC(), Reason: "threshold passed", Sources: []Source{{Agent, text}}}
	if err := f.Put(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

// kept reports whether there is a log of the nth machine.
func kept(t *testing.T, f Folder, n int) bool {
	t.Helper()
	_, err := f.Get(t.Context(), id(n))
	if err != nil && !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFolder_NewestLogOfAMachine(t *testing.T) {
	f := Folder{Dir: filepath.Join(t.TempDir(), "logs")}
	if kept(t, f, 1) {
		t.Error("a log was kept of nothing")
	}
	put(t, f, 1, "first")
	put(t, f, 1, "second")
	l, err := f.Get(t.Context(), id(1))
	if err != nil || l.InstanceID != id(1) || l.Reason != "threshold passed" || len(l.Sources) != 1 || l.Sources[0] != (Source{Agent, "second"}) {
		t.Errorf("Get = %+v, %v", l, err)
	}
	for path, want := range map[string]os.FileMode{f.Dir: 0o700, f.file(id(1)): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s = %v, %v, want %o", path, info.Mode(), err, want)
		}
	}
}

// An id never leads out of the folder.
func TestFolder_OddIDs_Refused(t *testing.T) {
	dir := t.TempDir()
	f := Folder{Dir: filepath.Join(dir, "logs")}
	for _, id := range []string{"", "..", "../i-00000000000000001", "i-0000000000000000g", "i-00000000000000001/..", "I-00000000000000001"} {
		if err := f.Put(t.Context(), Log{InstanceID: id}); err == nil || !strings.Contains(err.Error(), "no instance's id") {
			t.Errorf("Put(%q) = %v", id, err)
		}
		if _, err := f.Get(t.Context(), id); !errors.Is(err, ErrNone) {
			t.Errorf("Get(%q) = %v", id, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v were made, %v", entries, err)
	}
}

func TestFolder_KeptForSevenDays(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	bubbletest.Run(t, func(t *testing.T) {
		put(t, f, 1, "old")
		time.Sleep(24 * time.Hour)
		put(t, f, 2, "newer")
		time.Sleep(Keep - 24*time.Hour - 1)
		if err := f.Prune(time.Now()); err != nil || !kept(t, f, 1) {
			t.Errorf("Prune = %v, and the log is gone a tick too early", err)
		}
		time.Sleep(1)
		if err := f.Prune(time.Now()); err != nil || kept(t, f, 1) || !kept(t, f, 2) {
			t.Errorf("Prune = %v, kept %v and %v, want only the newer", err, kept(t, f, 1), kept(t, f, 2))
		}
	})
	if err := (Folder{Dir: filepath.Join(f.Dir, "none")}).Prune(time.Now()); err != nil {
		t.Errorf("Prune of nothing = %v", err)
	}
}

// A fleet that ends many machines fills no disk: the oldest logs go.
func TestFolder_Bounded_OldestGo(t *testing.T) {
	t.Run("Machines", func(t *testing.T) {
		f := Folder{Dir: t.TempDir()}
		bubbletest.Run(t, func(t *testing.T) {
			for n := range MaxMachines + 2 {
				time.Sleep(time.Second)
				if n < MaxMachines { // as put does, without looking at all those before each time
					check(t, os.WriteFile(f.file(id(n)), []byte("{}"), 0o600))
					check(t, os.Chtimes(f.file(id(n)), time.Now(), time.Now()))
					continue
				}
				put(t, f, n, "x")
			}
			if kept(t, f, 0) || kept(t, f, 1) || !kept(t, f, 2) || !kept(t, f, MaxMachines+1) {
				t.Error("want all but the two oldest")
			}
		})
	})
	t.Run("Bytes", func(t *testing.T) {
		f := Folder{Dir: t.TempDir()}
		bubbletest.Run(t, func(t *testing.T) {
			for n := range 3 {
				time.Sleep(time.Second)
				put(t, f, n, "x")
			}
			at := time.Now()
			check(t, os.Truncate(f.file(id(1)), MaxBytes))
			check(t, os.Chtimes(f.file(id(1)), at.Add(-1), at.Add(-1)))
			check(t, f.Prune(at))
			if _, err := os.Stat(f.file(id(1))); !os.IsNotExist(err) || kept(t, f, 0) || !kept(t, f, 2) {
				t.Errorf("one that is too large is %v", err)
			}
		})
	})
}
