package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write fills a folder with the files of a txtar-like text: lines "-- name --" begin a file.
func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for part := range strings.SplitSeq(text, "-- FILE ") {
		name, body, ok := strings.Cut(part, "\n")
		if !ok || name == "" {
			continue
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// module holds one proof of every kind, and texts that prove nothing.
const module = `-- FILE go.mod
module example.test/m
-- FILE docs/acceptance.md
| ID | statement | applies |
|---|---|---|
| S01 | a name | here |
| S02 | a comment above | here |
| S03 | a comment inside | here |
| S04 | a helper | here |
| S05 | a suite | here |
| S06 | a method | here |
| S07 | a script | here |
| S08 | only production code | here |
| S09 | a helper that no test uses | here |
| S10 | a function that cannot fail a test | here |
| S13 | a method that can | here |
| S11 | a skipped test | here |
| S12 | needs a cloud | aws: nothing here has subnets |

| ID | sev | statement | applies |
|---|---|---|---|
| H01 | C | one of two fails | here |
| H02 | M | only listed | here |
| H03 | H | a subtest's name | here |
| H04 | H | a test that never ended | here |
-- FILE a/a.go
package a

func F() {} // S08
-- FILE a/a_test.go
package a_test

import (
	"testing"

	"example.test/m/a/atest"
)

func TestName_S01(t *testing.T) {}

// S02, S11x: the second is no ID.
func TestAbove(t *testing.T) {
	quiet()
}

func TestInside(t *testing.T) {
	t.Run("one", func(t *testing.T) {
		helper(t) // S03
	})
	world{}.await(t)
}

// S04
func helper(t *testing.T) {}

// S09
func unused(t *testing.T) {}

// S10
func quiet() string { return io.EOF.Error() }

type world struct{ t *testing.T }

// S06
func (w world) await(t testing.TB) { w.check() }

// S13
func (w world) check() { w.t.Errorf("wrong") }

func TestSuite(t *testing.T) { atest.Run(t) }

// S11
func TestSkipped(t *testing.T) { t.Skip() }

// H01
func TestGood(t *testing.T) {}

// H01
func TestBad(t *testing.T) { t.Fail() }

// H04
func TestHangs(t *testing.T) { select {} }
-- FILE a/atest/atest.go
package atest

import "testing"

var checks = []func(*testing.T){check}

func Run(t *testing.T) {
	for _, c := range checks {
		c(t)
	}
}

// S05
func check(t *testing.T) {}

// Fake is refused (S08).
func Fake() {}
-- FILE e2e/scripts/warm.txtar
# S07: a warm start
exec true
-- FILE other/go.mod
module example.test/other
-- FILE other/o_test.go
package o

// S08
func TestOther(t *testing.T) {}
`

const events = `{"Action":"start","Package":"example.test/m/a"}
{"Action":"run","Package":"example.test/m/a","Test":"TestName_S01"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestName_S01"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestAbove"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestInside/one"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestInside"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite/Put_H03/again"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite/Put_H03"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite"}
{"Action":"skip","Package":"example.test/m/a","Test":"TestSkipped"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestGood"}
{"Action":"fail","Package":"example.test/m/a","Test":"TestBad"}
{"Action":"run","Package":"example.test/m/a","Test":"TestHangs"}
{"Action":"fail","Package":"example.test/m/a"}
go: a line that is no event
{"Action":"pass","Package":"example.test/m/e2e","Test":"TestScripts/warm"}
{"Action":"pass","Package":"example.test/m/e2e"}
`

const want = `S01    pass                           a TestName_S01
S02    pass                           a TestAbove
S03    pass                           a TestInside
S04    pass                           a TestInside
S05    pass                           a TestSuite
S06    pass                           a TestInside
S07    pass                           e2e TestScripts/warm
S08    missing                        only production code
S09    missing                        a helper that no test uses
S10    missing                        a function that cannot fail a test
S13    pass                           a TestInside
S11    skip                           a TestSkipped
S12    aws: nothing here has subnets  needs a cloud
H01 C  fail                           a TestBad (+1)
H02 M  missing                        only listed
H03 H  pass                           a TestSuite/Put_H03
H04 H  fail                           a TestHangs

9 of 15 required lines pass; 2 more are listed only.
Open: S08 missing, S09 missing, S10 missing, S11 skip, H01 fail, H04 fail.
3 tests or packages failed.
`

func TestRun_EveryKindOfProof(t *testing.T) {
	root := write(t, module+"-- FILE results.json\n"+events)
	var out bytes.Buffer
	code, err := run([]string{"-root", root, "-results", filepath.Join(root, "results.json")}, &out)
	if code != 1 || err != nil {
		t.Errorf("run() = %d, %v, want 1, nil", code, err)
	}
	if out.String() != want {
		t.Errorf("run() printed\n%s\nwant\n%s", out.String(), want)
	}
}

// One rule each decides between success and failure.
func TestRun_ExitCode(t *testing.T) {
	const (
		mod      = "-- FILE go.mod\nmodule m\n-- FILE docs/acceptance.md\n| S01 | it works | here |\n| H02 | L | it is pretty | here |\n| S03 | it costs | aws: money |\n"
		pass     = `{"Action":"pass","Package":"m/a","Test":"Test_S01"}` + "\n"
		aTest    = "-- FILE a/a_test.go\npackage a\n"
		resultsJ = "-- FILE results.json\n"
	)
	tests := []struct {
		name, reason, files string
		code                int
		print               string
	}{
		{"Proven", "neither a light hazard nor what needs more is required", mod + resultsJ + pass, 0, "1 of 1 required lines pass; 2 more are listed only.\n"},
		{"OtherTestFails", "a failure counts even if it proves nothing", mod + resultsJ + pass + `{"Action":"fail","Package":"m/a","Test":"TestX"}`, 1, "1 tests or packages failed.\n"},
		{"UnknownID", "a typing error in an ID must not go unseen", mod + resultsJ + pass + `{"Action":"pass","Package":"m/a","Test":"TestX_S91"}`, 1, "Tests name lines that do not exist: S91.\n"},
		{"NotRun", "a test that was not run proves nothing", mod + aTest + "// S01\nfunc TestX(t *testing.T) {}\n" + resultsJ + `{"Action":"pass","Package":"m/a","Test":"TestY"}`, 1, "Open: S01 not run.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := write(t, tt.files)
			var out bytes.Buffer
			code, err := run([]string{"-root", root, "-results", filepath.Join(root, "results.json"), "-v"}, &out)
			if code != tt.code || err != nil || !strings.HasSuffix(out.String(), tt.print) {
				t.Errorf("%s: run() = %d, %v, want %d; printed\n%s\nwant at its end\n%s", tt.reason, code, err, tt.code, out.String(), tt.print)
			}
		})
	}
}

func TestRun_UnreadableInputIsAnError(t *testing.T) {
	const row = "-- FILE docs/acceptance.md\n| S01 | it works | here |\n"
	const mod = "-- FILE go.mod\nmodule m\n"
	const results = "-- FILE results.json\n{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"T\"}\n"
	tests := []struct{ name, files, want string }{
		{"NoTable", mod + results, "read table"},
		{"EmptyTable", mod + results + "-- FILE docs/acceptance.md\nno row\n", "no row found"},
		{"Twice", mod + results + row + "| S01 | again | here |\n", ":2: S01 stands there twice"},
		{"NoSeverity", mod + results + row + "| H01 | X | text | here |\n", "row of H01 has the wrong cells"},
		{"EmptyCell", mod + results + row + "| S02 |  | here |\n", "row of S02 has an empty cell"},
		{"NoResults", mod + row, "run `make test` first"},
		{"EmptyResults", mod + row + "-- FILE results.json\n\n", "holds no test"},
		{"NoModule", row + results, "read module path"},
		{"BrokenTest", mod + row + results + "-- FILE a_test.go\nnonsense\n", "scan tests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := write(t, tt.files)
			var out bytes.Buffer
			code, err := run([]string{"-root", root, "-results", filepath.Join(root, "results.json")}, &out)
			if code != 2 || err == nil || !strings.Contains(err.Error(), tt.want) || out.Len() > 0 {
				t.Errorf("run() = %d, %v, %q, want 2, an error with %q, no output", code, err, out.String(), tt.want)
			}
		})
	}
}

func TestIDsIn_OnlyWholeWords(t *testing.T) {
	text := "S01,H02_S03 (S04)/H05: TestX_S06 S7 S008 XS09 S10x S11…S12"
	if got, want := idsIn(text), []string{"S01", "H02", "S03", "S04", "H05", "S06", "S11", "S12"}; !slices.Equal(got, want) {
		t.Errorf("idsIn(%q) = %v, want %v", text, got, want)
	}
}
