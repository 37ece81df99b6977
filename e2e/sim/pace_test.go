package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// An outage that is longer by the pace meets about as many calls: what tries again and again does so with pauses that
// have no pace, and would else make most calls of a slow story.
func TestPace_AnOutageMeetsAsManyTries(t *testing.T) {
	for _, outage := range []string{"down store", "github-out fails", "github-out lost"} {
		calls := map[float64]int{}
		for _, pace := range []float64{1, sim.SlowPace} {
			paced := func(d time.Duration) time.Duration { return time.Duration(pace * float64(d)) }
			s := sim.Script{Seed: 1, Pace: pace, Boot: 10 * time.Second}
			for _, text := range []string{
				fmt.Sprintf("at 0s run 100 count=2 jobs=2 job=%s", paced(2*time.Minute)),
				fmt.Sprintf("at %s %s %s", paced(time.Minute), outage, paced(3*time.Minute)),
				fmt.Sprintf("at %s run 200 count=2 jobs=2 job=%s", paced(150*time.Second), paced(time.Minute)),
			} {
				step, err := sim.ParseStep(text)
				check(t, err)
				s.Steps = append(s.Steps, step)
			}
			r := sim.Run(t, s)
			sound(t, fmt.Sprintf("%s, pace %g", outage, pace), r)
			calls[pace] = r.Calls
		}
		t.Logf("%s: %v calls by pace", outage, calls)
		if 2*calls[sim.SlowPace] > 5*calls[1] {
			t.Errorf("%s: %d calls at pace %d, %d at pace 1", outage, calls[sim.SlowPace], sim.SlowPace, calls[1])
		}
	}
}
