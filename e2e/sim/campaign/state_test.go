package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestState_IsThereAsAWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dist", "x.json")
	var got map[string]int
	if found, err := load(path, &got); found || err != nil {
		t.Errorf("load of nothing = %v, %v", found, err)
	}
	for n := range 2 {
		check(t, save(path, map[string]int{"n": n}))
		if found, err := load(path, &got); !found || err != nil || got["n"] != n {
			t.Errorf("load = %v, %v, %v, want n %d", got, found, err, n)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 || err != nil {
		t.Errorf("files %v, %v, want one", left, err)
	}
	if err := save(path, func() {}); err == nil { // no JSON
		t.Error("save of nonsense: no error")
	}
	if found, err := load(path, &got); !found || err != nil || got["n"] != 1 {
		t.Errorf("behind a save that failed: load = %v, %v, %v, want the old one", got, found, err)
	}
	check(t, os.WriteFile(path, []byte("{"), 0o600))
	if _, err := load(path, &got); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("load of half a file: %v, want an error that names it", err)
	}
}

func TestLineReader_KeepsWhatNobodyTakes(t *testing.T) {
	var taken []string
	e := &lineReader{onLine: func(line string) bool {
		taken = append(taken, line)
		return strings.HasPrefix(line, "mine")
	}}
	for _, text := range []string{"one\nmi", "ne: x\ntwo", "\nthree"} {
		if n, err := e.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if got, want := e.end(), "one\ntwo\nthree\n"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	if len(taken) != 3 || taken[1] != "mine: x" {
		t.Errorf("took %q", taken)
	}
}
