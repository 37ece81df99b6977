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
| S04 | only a helper | here |
| S05 | the name of a suite's check, in two packages | here |
| S06 | only a comment above a suite's check | here |
| S07 | a script | here |
| S08 | only production code | here |
| S09 | only a table beside the test | here |
| S10 | only what is like a test | here |
| S11 | a skipped test | here |
| S12 | needs a cloud | aws: nothing here has subnets |
| S13 | is proved in part | not met: until somebody listens |

| ID | sev | statement | applies |
|---|---|---|---|
| H01 | C | one of two fails | here |
| H02 | M | only listed | here |
| H03 | H | a subtest's name | here |
| H04 | H | a test that never ended | here |
| H05 | H | a fuzz target | here |
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
func TestAbove(t *testing.T) {}

func TestInside(t *testing.T) {
	t.Run("one", func(t *testing.T) {
		helper(t) // S03
	})
}

// S04
func helper(t *testing.T) {
	t.Error("wrong") // S04
}

// S09
var table = []string{"one"}

// S10
func TestMain(m *testing.M) {}

// S10
func (w world) TestMethod(t *testing.T) {}

// S10
func TestdataOf(t *testing.T, name string) {}

// S10
func BenchmarkX(b *testing.B) {}

func TestSuite(t *testing.T) { atest.Run(t) }

// S11
func TestSkipped(t *testing.T) { t.Skip() }

// H01
func TestGood(t *testing.T) {}

// H01
func TestBad(t *testing.T) { t.Fail() }

// H04
func TestHangs(t *testing.T) { select {} }

// S13
func TestHalf(t *testing.T) {}

// H05
func FuzzRead(f *testing.F) {}
-- FILE a/atest/atest.go
package atest

import "testing"

func Run(t *testing.T) { t.Run("Check_S05", check) }

// S06
func check(t *testing.T) {}
-- FILE e2e/scripts/warm.txtar
# S07: a warm start
exec true # S06
-- FILE plant/lost.patch
# S06: a planted bug
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
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite/Check_S05"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite/Put_H03/again"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite/Put_H03"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestSuite"}
{"Action":"pass","Package":"example.test/m/b","Test":"TestSuite/Check_S05"}
{"Action":"skip","Package":"example.test/m/a","Test":"TestSkipped"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestGood"}
{"Action":"fail","Package":"example.test/m/a","Test":"TestBad"}
{"Action":"pass","Package":"example.test/m/a","Test":"TestHalf"}
{"Action":"pass","Package":"example.test/m/a","Test":"FuzzRead"}
{"Action":"run","Package":"example.test/m/a","Test":"TestHangs"}
{"Action":"fail","Package":"example.test/m/a"}
go: a line that is no event
{"Action":"pass","Package":"example.test/m/e2e","Test":"TestScripts/warm"}
{"Action":"pass","Package":"example.test/m/e2e"}
`

const want = `S01   pass, 1 test: a name
        pass     a  TestName_S01
S02   pass, 1 test: a comment above
        pass     a  TestAbove
S03   pass, 1 test: a comment inside
        pass     a  TestInside
S04   missing, 0 tests: only a helper
S05   pass, 2 tests: the name of a suite's check, in two packages
        pass     a  TestSuite/Check_S05
        pass     b  TestSuite/Check_S05
S06   missing, 0 tests: only a comment above a suite's check
S07   pass, 1 test: a script
        pass     e2e  TestScripts/warm
S08   missing, 0 tests: only production code
S09   missing, 0 tests: only a table beside the test
S10   missing, 0 tests: only what is like a test
S11   skip, 1 test: a skipped test
        skip     a  TestSkipped
S12   aws: nothing here has subnets, 0 tests: needs a cloud
S13   not met: until somebody listens, 1 test: is proved in part
        pass     a  TestHalf
H01 C fail, 2 tests: one of two fails
        fail     a  TestBad
        pass     a  TestGood
H02 M missing, 0 tests: only listed
H03 H pass, 1 test: a subtest's name
        pass     a  TestSuite/Put_H03
H04 H fail, 1 test: a test that never ended
        fail     a  TestHangs
H05 H pass, 1 test: a fuzz target
        pass     a  FuzzRead

7 of 15 required lines pass, 1 not met yet, 2 more are listed only.
Not met: S13 (until somebody listens).
Open: S04 missing, S06 missing, S08 missing, S09 missing, S10 missing, S11 skip, H01 fail, H04 fail.
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

// make check leaves out what make test has found out. Its results count on in what both kept.
func TestRun_Passed(t *testing.T) {
	const short = `{"Action":"pass","Package":"m/a","Test":"TestWhole"}
{"Action":"pass","Package":"m/a","Test":"TestWhole/sub"}
{"Action":"pass","Package":"m/a","Test":"TestPartly"}
{"Action":"skip","Package":"m/a","Test":"TestPartly/long"}
{"Action":"pass","Package":"m/a","Test":"TestInBoth"}
{"Action":"skip","Package":"m/b","Test":"TestInBoth"}
{"Action":"fail","Package":"m/b","Test":"TestBad_S01"}
{"Action":"run","Package":"m/b","Test":"TestHangs"}
{"Action":"pass","Package":"m/b","Test":"FuzzRead"}
{"Action":"pass","Package":"m/b"}
`
	const long = `{"Action":"pass","Package":"m/a","Test":"TestPartly"}
{"Action":"pass","Package":"m/a","Test":"TestPartly/long"}
{"Action":"pass","Package":"m/b","Test":"TestBad_S01"}
`
	root := write(t, "-- FILE go.mod\nmodule m\n-- FILE docs/acceptance.md\n| S01 | it works | here |\n-- FILE short.json\n"+short+"-- FILE long.json\n"+long)
	for _, tt := range []struct{ results, want string }{{"short.json", "^(FuzzRead|TestWhole)$\n"}, {"short.json long.json", "^(FuzzRead|TestPartly|TestWhole)$\n"}} {
		var files []string
		for _, name := range strings.Fields(tt.results) {
			files = append(files, filepath.Join(root, name))
		}
		var out bytes.Buffer
		code, err := run([]string{"-root", root, "-passed", "-results", strings.Join(files, " ")}, &out)
		if code != 0 || err != nil || out.String() != tt.want {
			t.Errorf("%s: run(-passed) = %d, %v, printed %q, want %q", tt.results, code, err, out.String(), tt.want)
		}
		out.Reset()
		if code, err = run([]string{"-root", root, "-results", strings.Join(files, " ")}, &out); code != 1 || err != nil || !strings.Contains(out.String(), "Open: S01 fail.\n") {
			t.Errorf("%s: run() = %d, %v, printed %q, want the failure of S01 to stay", tt.results, code, err, out.String())
		}
	}
}

// One rule each decides between success and failure.
func TestRun_ExitCode(t *testing.T) {
	const (
		mod      = "-- FILE go.mod\nmodule m\n-- FILE docs/acceptance.md\n| S01 | it works | here |\n| H02 | L | it is pretty | here |\n| S03 | it costs | aws: money |\n| S04 | it will work | not met: until then |\n"
		pass     = `{"Action":"pass","Package":"m/a","Test":"Test_S01"}` + "\n"
		aTest    = "-- FILE a/a_test.go\npackage a\n"
		resultsJ = "-- FILE results.json\n"
	)
	tests := []struct {
		name, reason, files string
		code                int
		print               string
	}{
		{"Proven", "neither a light hazard nor what needs more, or waits, is required", mod + resultsJ + pass, 0, "1 of 1 required lines pass, 1 not met yet, 2 more are listed only.\nNot met: S04 (until then).\n"},
		{"OtherTestFails", "a failure counts even if it proves nothing", mod + resultsJ + pass + `{"Action":"fail","Package":"m/a","Test":"TestX"}`, 1, "1 test or package failed.\n"},
		{"OneOfTwoFails", "a test that names a line must not fail beside one that passes", mod + resultsJ + pass + `{"Action":"fail","Package":"m/b","Test":"Test_S01"}`, 1, "Open: S01 fail.\n1 test or package failed.\n"},
		{"UnknownID", "a typing error in an ID must not go unseen", mod + resultsJ + pass + `{"Action":"pass","Package":"m/a","Test":"TestX_S91"}`, 1, "Tests name lines that do not exist: S91.\n"},
		{"NotRun", "a test that was not run proves nothing", mod + aTest + "// S01\nfunc TestX(t *testing.T) {}\n" + resultsJ + `{"Action":"pass","Package":"m/a","Test":"TestY"}`, 1, "Open: S01 not run.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := write(t, tt.files)
			var out bytes.Buffer
			code, err := run([]string{"-root", root, "-results", filepath.Join(root, "results.json")}, &out)
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
		{"EmptyMark", mod + results + row + "| S02 | text | not met: |\n", "row of S02 has an empty cell"},
		{"NoResults", mod + row, "run `make check` first"},
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
