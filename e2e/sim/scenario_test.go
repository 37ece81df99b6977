package sim_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/sim"
)

var rewrite = flag.Bool("rewrite", false, "write what came of each script in testdata into it")

// Every script in testdata comes out as it says, without a violation, and all its faults happen.
func TestScripts(t *testing.T) {
	files, err := os.ReadDir("testdata")
	check(t, err)
	ran := 0
	for _, f := range files {
		if f.IsDir() {
			continue // planted bugs, and the corpus of the fuzz targets
		}
		if filepath.Ext(f.Name()) != ".txt" {
			t.Errorf("testdata/%s: must end in .txt to be told", f.Name())
			continue
		}
		ran++
		t.Run(f.Name(), func(t *testing.T) { script(t, filepath.Join("testdata", f.Name())) })
	}
	if ran == 0 {
		t.Error("no script in testdata")
	}
}

// tries is how often a story is told until it comes out as written. Goroutines that wake in one instant run in an order
// that is always the same unless the machine takes the processor away at that very moment, which a busy one does at
// times: then it is another story, as good as the first one. What has really changed never comes out as before.
const tries = 5

// script tells one script.
func script(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	check(t, err)
	want, err := sim.ParseScenario(string(text))
	check(t, err)
	if len(want.About) == 0 {
		t.Errorf("%s: no comment above: it must say what the script shows", file)
	}
	var got sim.Scenario
	for range tries {
		var r sim.Report
		got, r = want.Run(func(s sim.Script) sim.Report { return sim.Run(t, s) })
		sound(t, file, r)
		for _, f := range want.Script.Faults {
			if !fired(r, f) {
				t.Errorf("%s: fault %s did not happen", file, f)
			}
		}
		if *rewrite {
			check(t, os.WriteFile(file, []byte(got.String()), 0o600))
			return
		}
		if got.Output == want.Output || t.Failed() {
			break
		}
	}
	if diff := cmp.Diff(want.Output, got.Output); diff != "" {
		t.Errorf("%s: another story than written (-want +got); if it is the better one: go test ./e2e/sim -run TestScripts -rewrite\n%s", file, diff)
	}
}

func fired(r sim.Report, f sim.Fault) bool {
	return slices.ContainsFunc(r.Fired, func(h sim.Fired) bool { return h.Fault == f })
}
