package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is a module with every way in which a package can end.
var module = map[string]string{
	"go.mod":           "module example.test/m\n\ngo 1.26\n",
	"empty/empty.go":   "package empty\n",
	"good/a_test.go":   "package good\n\nimport \"testing\"\n\nfunc TestNoisy(t *testing.T) { println(\"noise\"); t.Log(\"said\") }\n\nfunc TestLater(t *testing.T) { t.Skip(\"later\") }\n",
	"bad/a_test.go":    "package bad\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) { t.Log(\"hidden\") }\n\nfunc TestBad(t *testing.T) {\n\tt.Run(\"fine\", func(t *testing.T) { t.Log(\"hidden\") })\n\tt.Run(\"wrong\", func(t *testing.T) { t.Error(\"shown\") })\n}\n",
	"panic/a_test.go":  "package panic\n\nimport \"testing\"\n\nfunc TestFine(*testing.T) {}\n\nfunc TestPanic(*testing.T) { panic(\"shown\") }\n",
	"broken/a_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { undefined() }\n",
}

func writeModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range module {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// volatile is what differs between two runs of the same tests.
var volatile = regexp.MustCompile(`\d+\.\d+s|\(cached\)|0x[0-9a-f]+|goroutine \d+|\+0x.*`)

// lines returns the sorted lines of text without what differs from run to run. Packages end in any
// order, and a panic prints its frames with other addresses.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(volatile.ReplaceAllString(text, "")) {
		out = append(out, strings.TrimSpace(line))
	}
	slices.Sort(out)
	return out
}

func TestRun_PrintsWhatGoTestPrints(t *testing.T) {
	t.Chdir(writeModule(t))
	tests := []struct {
		name, reason string
		packages     []string
		code         int
	}{
		{"Passing", "passing tests say nothing, skipped ones neither", []string{"./good", "./empty"}, 0},
		{"Failing", "only what failed is shown", []string{"./good", "./bad"}, 1},
		{"Panicking", "a test without an end is shown", []string{"./panic"}, 1},
		{"Broken", "errors of the compiler are shown", []string{"./broken", "./good"}, 1},
		{"NoSuchPackage", "errors of go itself are shown", []string{"./nowhere"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, gotErr bytes.Buffer
			events := filepath.Join(t.TempDir(), "new", "events.json")
			code, err := run(t.Context(), append([]string{"-o", events}, tt.packages...), &got, &gotErr)
			if code != tt.code || err != nil {
				t.Fatalf("run(%v) = %d, %v, want %d, nil; %s", tt.packages, code, err, tt.code, gotErr.String())
			}
			plain := exec.CommandContext(t.Context(), "go", append([]string{"test"}, tt.packages...)...)
			want, err := plain.CombinedOutput()
			if exit := plain.ProcessState.ExitCode(); exit != tt.code {
				t.Fatalf("go test %v = %d, %v, want %d", tt.packages, exit, err, tt.code)
			}
			if g, w := lines(got.String()+gotErr.String()), lines(string(want)); !slices.Equal(g, w) {
				t.Errorf("%s:\ngot:\n%s\nwant:\n%s", tt.reason, strings.Join(g, "\n"), strings.Join(w, "\n"))
			}
			if stat, err := os.Stat(events); err != nil || stat.Size() == 0 && tt.name != "NoSuchPackage" {
				t.Errorf("Stat(%s) = %v, %v, want events", events, stat, err)
			}
		})
	}
}

// What one group says is what it says alone, whichever ends first, and one that fails fails them all.
func TestRun_GroupsAreOneRun(t *testing.T) {
	t.Chdir(writeModule(t))
	tests := []struct {
		name, reason string
		groups       []string
		code         int
		says, events []string
	}{
		{"Passing", "both groups' packages", []string{"./good", "--", "-race", "./empty", "./good"}, 0,
			[]string{"ok  \texample.test/m/good", "ok  \texample.test/m/good", "?   \texample.test/m/empty"}, []string{`"TestNoisy"`}},
		{"FirstFails", "the first group's verdict", []string{"./bad", "--", "./good"}, 1,
			[]string{"FAIL\texample.test/m/bad", "ok  \texample.test/m/good"}, []string{`"TestBad/wrong"`, `"TestNoisy"`}},
		{"LastFails", "the last group's verdict", []string{"./good", "--", "./bad"}, 1,
			[]string{"FAIL\texample.test/m/bad", "ok  \texample.test/m/good"}, []string{`"TestBad/wrong"`, `"TestNoisy"`}},
		{"Nowhere", "what go itself says", []string{"./good", "--", "./nowhere"}, 1,
			[]string{"ok  \texample.test/m/good", "nowhere"}, []string{`"TestNoisy"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			file := filepath.Join(t.TempDir(), "events.json")
			code, err := run(t.Context(), append([]string{"-o", file}, tt.groups...), &out, &errs)
			if code != tt.code || err != nil {
				t.Fatalf("run(%v) = %d, %v, want %d, nil; %s", tt.groups, code, err, tt.code, errs.String())
			}
			said := out.String() + errs.String()
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("run(%v) does not say %q, %s:\n%s", tt.groups, want, tt.reason, said)
				}
				said = strings.Replace(said, want, "", 1) // what is wanted twice is said twice
			}
			if got := strings.HasSuffix(out.String(), "\nFAIL\n"); got != (tt.code == 1) {
				t.Errorf("run(%v) ends with FAIL: %t, want %t:\n%s", tt.groups, got, tt.code == 1, out.String())
			}
			events, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.events {
				if !strings.Contains(string(events), want) {
					t.Errorf("run(%v) kept no event of %s, want those of all groups:\n%s", tt.groups, want, events)
				}
			}
		})
	}
}

func TestRun_UsageAndUnwritableFileRunNothing(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		args []string
	}{
		{"NoFile", []string{"./..."}},
		{"FolderIsAFile", []string{"-o", filepath.Join(dir, "file", "events.json"), "./..."}},
		{"FileIsAFolder", []string{"-o", dir, "./..."}},
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if code, err := run(t.Context(), tt.args, &out, &out); code != 2 || err == nil || out.Len() > 0 {
				t.Errorf("run(%v) = %d, %v, %q, want 2, an error, no output", tt.args, code, err, out.String())
			}
		})
	}
}

// A signal leaves no exit code, which must not pass for success.
func TestRun_KilledIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\nkill -9 $$\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	var out bytes.Buffer
	code, err := run(t.Context(), []string{"-o", filepath.Join(dir, "events.json"), "./..."}, &out, &out)
	if code != 2 || err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("run() = %d, %v, want 2 and how go test ended", code, err)
	}
}

func TestPrinter_VerdictAboveReasons(t *testing.T) {
	var out bytes.Buffer
	in := `{"Action":"run","Package":"p","Test":"T"}
{"Action":"output","Package":"p","Test":"T","Output":"=== RUN   T\n"}
{"Action":"output","Package":"p","Test":"T","Output":"    x_test.go:1: reason\n"}
{"Action":"output","Package":"p","Test":"T","Output":"--- FAIL: T (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"T"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`
	if err := copyEvents(strings.NewReader(in), &output{events: io.Discard, text: printer{out: &out, leftOut: leftOut{}}}); err != nil {
		t.Fatalf("copyEvents() error = %v", err)
	}
	if want := "--- FAIL: T (0.00s)\n    x_test.go:1: reason\nFAIL\tp\t0.1s\n"; out.String() != want {
		t.Errorf("copyEvents() printed\n%s\nwant\n%s", out.String(), want)
	}
}

// A reader's line may be far longer than a scanner's buffer.
func TestCopyEvents_LongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var out bytes.Buffer
	in := `{"Action":"output","Package":"p","Output":"FAIL ` + long + `\n"}` + "\n" + `{"Action":"fail","Package":"p"}`
	if err := copyEvents(strings.NewReader(in), &output{events: io.Discard, text: printer{out: &out, leftOut: leftOut{}}}); err != nil {
		t.Fatalf("copyEvents() error = %v", err)
	}
	if want := "FAIL " + long + "\n"; out.String() != want {
		t.Errorf("copyEvents() printed %d bytes, want %d", out.Len(), len(want))
	}
}

// What a machine cannot test is said once, in one line, also when go test would take it from its cache.
func TestRun_SaysAtTheEndWhatWasLeftOut(t *testing.T) {
	dir := writeModule(t)
	for _, name := range []string{"more", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "package " + name + "\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestA(t *testing.T) { _ = os.Getenv(\"REMUDA_TEST_RUN\"); t.Skip(\"left out: queue: java is not installed\") }\n\n" +
			"func TestB(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) { t.Skip(\"left out: cloud: python3 is not installed\") })\n}\n"
		if err := os.WriteFile(filepath.Join(dir, name, "a_test.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	const want = "left out: cloud: python3 is not installed (example.test/m/more, example.test/m/other); " +
		"queue: java is not installed (example.test/m/more, example.test/m/other)\n"
	for _, name := range []string{"first", "second"} {
		var out, errs bytes.Buffer
		args := []string{"-o", filepath.Join(t.TempDir(), "events.json"), "./good", "./more", "./other"}
		if code, err := run(t.Context(), args, &out, &errs); code != 0 || err != nil {
			t.Fatalf("%s run() = %d, %v, want 0, nil\n%s", name, code, err, errs.String())
		}
		if !strings.HasSuffix(out.String(), "\n"+want) || strings.Count(out.String(), "left out") != 1 {
			t.Errorf("%s run() printed\n%s\nwant at its end, alone\n%s", name, out.String(), want)
		}
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "cached") && !strings.Contains(line, "/good") {
				t.Errorf("%s run() took what was left out from the cache: %s", name, line)
			}
		}
	}
}
