package sim_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// Days and months are those of UTC wherever a controller runs. In this zone midnight is half past nine in the morning, and the month
// ends nine hours and a half later.
func TestZones_DaysAreOfUTC(t *testing.T) {
	here := time.Local
	time.Local = time.FixedZone("Marquesas", -(9*60+30)*60) //nolint:gosmopolitan // the product must not depend on it
	defer func() { time.Local = here }()                    //nolint:gosmopolitan // as above
	for _, name := range []string{"midnight", "month_ends", "costs_hold_a_bad_row"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		check(t, err)
		s, err := sim.ParseScenario(string(text))
		check(t, err)
		for _, after := range []time.Duration{s.Script.After, s.Script.After + 9*time.Hour + 30*time.Minute} {
			s.Script.After = after
			out, r := s.Run(func(s sim.Script) sim.Report { return sim.Run(t, s) })
			if len(r.Violations) > 0 {
				t.Errorf("%s, begun %s after the beginning of 2000: %v", name, after, r.Violations)
			}
			if r.Ready == 0 {
				t.Errorf("%s: no request was served:\n%s", name, out)
			}
		}
	}
}
