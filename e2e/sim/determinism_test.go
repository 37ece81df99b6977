package sim_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

// One seed gives one story: every call at the same nanosecond, in the same order.
func TestSeed_GivesTheSameStory(t *testing.T) {
	for seed := range uint64(20) {
		var told [2]bytes.Buffer
		for i := range told {
			s := story()
			s.Seed, s.Trace = seed, &told[i]
			s.Rates = sim.Rates{sim.CrashAfter: 0.002, sim.LostReply: 0.01, sim.Throttled: 0.01, sim.Twice: 0.01, sim.Late: 0.01, sim.Stale: 0.05}
			sim.Run(t, s)
		}
		compare(t, seed, lines(told[0]), lines(told[1]))
	}
}

// So it is with everything that random stories contain.
func TestRandom_GivesTheSameStory(t *testing.T) {
	for _, seed := range determined {
		var told [2]bytes.Buffer
		var reports [2]sim.Report
		for i := range told {
			s := sim.Random(seed)
			s.Trace = &told[i]
			reports[i] = sim.Run(t, s)
		}
		compare(t, seed, lines(told[0]), lines(told[1]))
		if a, b := reports[0], reports[1]; a.Trace != b.Trace || a.Ready != b.Ready || a.Elapsed != b.Elapsed || len(a.Fired) != len(b.Fired) {
			t.Errorf("seed %d: %d, %d, %s, %d faults; then %d, %d, %s, %d", seed, a.Trace, a.Ready, a.Elapsed, len(a.Fired), b.Trace, b.Ready, b.Elapsed, len(b.Fired))
		}
	}
}

// determined are seeds of small stories.
var determined = []uint64{6, 12}

// compare reports the first difference of two stories.
func compare(t *testing.T, seed uint64, a, b []string) {
	t.Helper()
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("seed %d: call %d of %d and %d: %q, then %q", seed, i, len(a), len(b), a[i], b[i])
			return
		}
	}
}

// lines returns the calls of a story by their time; those of one instant have no order.
func lines(b bytes.Buffer) []string {
	out := strings.Split(b.String(), "\n")
	slices.Sort(out)
	return out
}
