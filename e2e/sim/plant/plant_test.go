package plant_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/sim/plant"
)

var update = flag.Bool("update", false, "write the table of docs/reliability.md")

// Where the repository and its patches are.
const (
	root  = "../../.."
	least = 20 // docs/goals.md, G10
)

func bugs(t *testing.T) []plant.Bug {
	t.Helper()
	all, err := plant.All("../testdata/bugs")
	check(t, err)
	return all
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every patch still applies, to the code of the product alone, and changes it.
func TestPatches_Apply_G10(t *testing.T) {
	all := bugs(t)
	if len(all) < least {
		t.Errorf("%d planted bugs, want at least %d", len(all), least)
	}
	for _, b := range all {
		if b.Test != "" && !b.Exempt() {
			t.Errorf("%s names a unit test, must be found by a campaign", b.Path)
		}
		files, err := b.Apply(root)
		if err != nil {
			t.Error(err)
		}
		for path, text := range files {
			before, err := os.ReadFile(filepath.Join(root, path))
			check(t, err)
			if string(before) == text {
				t.Errorf("%s changes nothing in %s", b.Path, path)
			}
			if b.Test != "" {
				continue // below what is simulated
			}
			if top, _, _ := strings.Cut(path, "/"); !strings.Contains(" agent pool reconciler statemachine store ", " "+top+" ") || strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s plants a bug in %s, must be in agent, pool, reconciler, statemachine or store", b.Path, path)
			}
		}
	}
}

// The table of docs/reliability.md says what the headers say; what became of hunts is from `make killrate`.
func TestDocs_ListPlantedBugs_G10(t *testing.T) {
	path := filepath.Join(root, "docs", "reliability.md")
	text, err := os.ReadFile(path)
	check(t, err)
	want, err := plant.Document(string(text), bugs(t), nil)
	check(t, err)
	if *update {
		check(t, os.WriteFile(path, []byte(want), 0o600))
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is out of date; go test ./e2e/sim/plant -update mends it (-want +got):\n%s", path, diff)
	}
}

func TestParse_Refuses(t *testing.T) {
	good := "# H13: x\n# at 0s run 1 count=1\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-a\n+b\n"
	b, err := plant.Parse(good)
	if err != nil || b.ID != "H13" || b.Title != "x" || b.Script != "at 0s run 1 count=1\n" || len(b.Files) != 1 {
		t.Fatalf("Parse = %+v, %v", b, err)
	}
	for what, text := range map[string]string{
		"no title":           strings.TrimPrefix(good, "# H13: x\n"),
		"no file":            "# H13: x\n",
		"a stray line":       good + "c\n",
		"no hunk":            strings.Replace(good, "@@ -1 +1 @@\n", "", 1),
		"a test and a story": strings.Replace(good, "# at", "# killed by: ./fleet TestX\n# at", 1),
	} {
		if _, err := plant.Parse(text); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestParse_TheUnitTestThatFindsIt(t *testing.T) {
	b, err := plant.Parse("# H13: x\n# killed by: ./fleet/ec2fleet TestFleet_KeepsTheContract\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n-a\n+b\n")
	if err != nil || b.Script != "" || b.Package != "./fleet/ec2fleet" || b.Test != "TestFleet_KeepsTheContract" {
		t.Fatalf("Parse = %+v, %v", b, err)
	}
}

// A block that is not there, or more than once, is no place to plant a bug, and the error names the patch.
func TestApply_OnlyWhereTheOldLinesAreOnce(t *testing.T) {
	b, err := plant.Parse("# H13: x\n--- a/f.go\n+++ b/f.go\n@@ -1 +1 @@\n one\n-a\n+b\n")
	check(t, err)
	b.Path = "x.patch"
	for text, want := range map[string]string{"zero\none\na\ntwo\n": "zero\none\nb\ntwo\n", "one\nc\n": "", "one\na\none\na\n": ""} {
		dir := t.TempDir()
		check(t, os.WriteFile(filepath.Join(dir, "f.go"), []byte(text), 0o600))
		got, err := b.Apply(dir)
		if got["f.go"] != want || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "x.patch") {
			t.Errorf("Apply to %q = %q, %v; want %q", text, got["f.go"], err, want)
		}
	}
}
