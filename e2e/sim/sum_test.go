package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// sum adds up reports.
type sum struct {
	stories                         int
	hours, atDefault                float64 // instance-hours, and those of them at pace 1
	virtual                         time.Duration
	calls, launched, jobs, restarts int
	requests, ready, failed         int
	faults                          map[sim.Kind]int
	events                          map[string]int
	settled                         time.Duration // longest, at pace 1
	settledSeed, first, last        uint64
}

func (s *sum) add(seed uint64, r sim.Report) {
	o := sim.Random(seed)
	if s.stories == 0 {
		s.first, s.faults, s.events = seed, map[sim.Kind]int{}, map[string]int{}
	}
	s.stories++
	s.last = seed
	s.hours += r.Hours
	if o.Pace == 1 {
		s.atDefault += r.Hours
	}
	s.virtual += r.Elapsed
	s.calls, s.launched, s.jobs, s.restarts = s.calls+r.Calls, s.launched+r.Launched, s.jobs+r.Jobs, s.restarts+r.Restarts
	s.requests, s.ready, s.failed = s.requests+r.Requests, s.ready+r.Ready, s.failed+r.Failed
	for _, f := range r.Fired {
		s.faults[f.Kind]++
	}
	for _, step := range o.Steps {
		if name, _, _ := strings.Cut(step.What, " "); name != "run" && name != "up" {
			s.events[name]++
		}
	}
	if d := time.Duration(float64(r.Settled) / o.Pace); d > s.settled {
		s.settled, s.settledSeed = d, seed
	}
}

// tell says it in lines of key and value.
func (s *sum) tell(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d stories, seeds %d to %d, in %s\n", s.stories, s.first, s.last, took.Round(time.Millisecond))
	fmt.Fprintf(&b, "instance-hours %.0f, of these %.0f at the product's own intervals, the others at intervals times %d\n", s.hours, s.atDefault, sim.SlowPace)
	fmt.Fprintf(&b, "virtual time %s, %.0f times as fast as real; %.0f instance-hours per second\n", s.virtual.Round(time.Second), s.virtual.Seconds()/took.Seconds(), s.hours/took.Seconds())
	fmt.Fprintf(&b, "calls %d, machines %d, jobs %d, requests %d: answered Ready %d times, Failed %d\n", s.calls, s.launched, s.jobs, s.requests, s.ready, s.failed)
	fmt.Fprintf(&b, "controllers restarted %d times\n", s.restarts)
	fmt.Fprintf(&b, "faults of calls:%s\nevents:%s\n", counts(s.faults), counts(s.events))
	fmt.Fprintf(&b, "longest time to settle %s (seed %d), at intervals times 1", s.settled.Round(time.Millisecond), s.settledSeed)
	return b.String()
}

func counts[K ~string](m map[K]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, " %s %d", k, m[k])
	}
	return b.String()
}
