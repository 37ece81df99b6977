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
		a, b := lines(told[0]), lines(told[1])
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("seed %d: call %d of %d and %d: %q, then %q", seed, i, len(a), len(b), a[i], b[i])
				break
			}
		}
	}
}

// lines returns the calls of a story by their time; those of one instant have no order.
func lines(b bytes.Buffer) []string {
	out := strings.Split(b.String(), "\n")
	slices.Sort(out)
	return out
}
