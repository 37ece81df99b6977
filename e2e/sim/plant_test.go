package sim_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/plant"
)

var huntFlag = flag.String("sim.hunt", "", "only the story of this planted bug, by the name of its patch")

// G10: the stories that show planted bugs break no law in the program as it is. Where a bug is planted, its story
// does: e2e/sim/campaign builds this test with each patch, names it, and reads which law was broken.
func TestPlantedBugs_Stories(t *testing.T) {
	bugs, err := plant.All(filepath.Join("testdata", "bugs"))
	check(t, err)
	hunted := false
	for _, b := range bugs {
		if *huntFlag != "" && b.Name() != *huntFlag {
			continue
		}
		if b.Script == "" {
			continue // the kill rate's
		}
		hunted = true
		s, err := sim.ParseScenario(b.Script + "----\n")
		if err != nil {
			t.Fatalf("%s: %v", b.Path, err)
		}
		s.Script.Hasty = *huntFlag != ""
		r := sim.Run(t, s.Script)
		if caught(t, b.Name(), r) || *huntFlag != "" {
			continue
		}
		if len(r.Fired) != len(s.Script.Faults) {
			t.Errorf("%s: of its faults only these happened: %v", b.Path, r.Fired)
		}
	}
	if !hunted {
		t.Fatalf("-sim.hunt: got %q, must be the name of a patch with a story in testdata/bugs", *huntFlag)
	}
}

// tally tells what a test lived through, in words that the campaign reads.
func tally(t *testing.T, stories, faults int, hours float64, violations int) {
	t.Helper()
	t.Logf("tally: stories=%d faults=%d hours=%.3f violations=%d", stories, faults, hours, violations)
}

// caught fails the test if a law was broken, in words that the campaign reads.
func caught(t *testing.T, story string, r sim.Report) bool {
	t.Helper()
	if len(r.Violations) == 0 {
		return false
	}
	v := r.Violations[0]
	t.Errorf("in %q: broken: %s: after %s: %s (%d more)", story, v.Law, v.At, v.Text, len(r.Violations)-1)
	return true
}
