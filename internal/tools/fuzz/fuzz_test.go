package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const deadline = "fuzz: elapsed: 3s, execs: 9\n--- FAIL: FuzzX (3.01s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\tx\t3.0s\n"

func TestOutOfTime(t *testing.T) {
	const crash = "--- FAIL: FuzzX (0.01s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: bad\n    \n    Failing input written to testdata/fuzz/FuzzX/1\nFAIL\n"
	for said, want := range map[string]bool{
		deadline: true,
		crash:    false,
		strings.Replace(deadline, "context deadline", "    --- FAIL: FuzzX (0s)\n x_test.go:9: context deadline", 1): false,
		"": false,
		"# x\n./x_test.go:1: undefined: context deadline exceeded\nFAIL\n": false,
	} {
		if got := outOfTime(said); got != want {
			t.Errorf("outOfTime(%q) = %t, want %t", said, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"a_test.go":              "func FuzzA(f *testing.F) {\n}\nfunc FuzzB_H1(fz *testing.F) {}\n",
		"b/c_test.go":            "// func FuzzNo(f *testing.F)\nfunc FuzzC(f *testing.F) {}\nfunc Fuzzy(t *testing.T) {}\n",
		"b/d.go":                 "func FuzzD(f *testing.F) {}\n",
		"testdata/e_test.go":     "func FuzzE(f *testing.F) {}\n",
		"node_modules/f_test.go": "func FuzzF(f *testing.F) {}\n",
		".git/g_test.go":         "func FuzzG(f *testing.F) {}\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := find(root)
	want := []target{{root, "FuzzA"}, {root, "FuzzB_H1"}, {root + "/b", "FuzzC"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("find = %v, %v, want %v", got, err, want)
	}
}

// A folder without targets is a mistake, such as a mistyped one, and no success.
func TestRun_WithoutTargets(t *testing.T) {
	if err := run(t.Context(), []string{t.TempDir()}, t.Output()); err == nil || !strings.Contains(err.Error(), "no fuzz target in") {
		t.Errorf("run = %v, want no fuzz target", err)
	}
}
