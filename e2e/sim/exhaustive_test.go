package sim_test

import (
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

// G10: every site of the story with every fault its contract allows.
func TestSingles(t *testing.T) {
	base := story()
	quiet := sim.Run(t, base)
	faults := sim.Singles(quiet.Made)
	for _, f := range faults {
		s := base
		s.Faults = []sim.Fault{f}
		r := sim.Run(t, s)
		if len(r.Fired) == 0 {
			t.Errorf("%s: did not happen", f)
		}
		for _, v := range r.Violations {
			t.Errorf("%s: %s", f, v)
		}
		if r.Launched != quiet.Launched && f.Role != sim.Client { // what a client that died had is not ready in time
			t.Errorf("%s: %d machines launched, want %d", f, r.Launched, quiet.Launched)
		}
	}
	t.Logf("%d faults", len(faults))
}
