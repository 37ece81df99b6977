package lived

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// Sum adds up the reports of random stories.
type Sum struct {
	Stories     int              `json:"stories"`
	Hours       float64          `json:"hours"`     // instance-hours
	AtDefault   float64          `json:"atDefault"` // those of them at pace 1
	Virtual     time.Duration    `json:"virtual"`
	Took        time.Duration    `json:"took"` // really
	Calls       int              `json:"calls"`
	Launched    int              `json:"launched"`
	Jobs        int              `json:"jobs"`
	Restarts    int              `json:"restarts"`
	Requests    int              `json:"requests"`
	Ready       int              `json:"ready"`
	Failed      int              `json:"failed"`
	Violations  int              `json:"violations"`
	Faults      map[sim.Kind]int `json:"faults"`
	Events      map[string]int   `json:"events"`
	Settled     time.Duration    `json:"settled"` // longest, at pace 1
	SettledSeed uint64           `json:"settledSeed"`
	First       uint64           `json:"first"`
	Last        uint64           `json:"last"`
}

// Add adds what became of a seed's story.
func (s *Sum) Add(seed uint64, o sim.Script, r sim.Report, took time.Duration) {
	one := Sum{
		Stories: 1, Hours: r.Hours, Virtual: r.Elapsed, Took: took, Calls: r.Calls, Launched: r.Launched, Jobs: r.Jobs, Restarts: r.Restarts,
		Requests: r.Requests, Ready: r.Ready, Failed: r.Failed, Violations: len(r.Violations), Faults: map[sim.Kind]int{}, Events: events(o),
		Settled: time.Duration(float64(r.Settled) / max(o.Pace, 1)), SettledSeed: seed, First: seed, Last: seed,
	}
	if o.Pace == 1 {
		one.AtDefault = r.Hours
	}
	for _, f := range r.Fired {
		one.Faults[f.Kind]++
	}
	s.Merge(one)
}

// events counts what the world does in a story, by the word of its steps.
func events(o sim.Script) map[string]int {
	out := map[string]int{}
	for _, step := range o.Steps {
		if name, _, _ := strings.Cut(step.What, " "); name != "run" {
			out[name]++
		}
	}
	return out
}

// Merge adds what another sum counted.
func (s *Sum) Merge(o Sum) {
	if o.Stories == 0 {
		return
	}
	if s.Stories == 0 {
		s.First = o.First
	}
	s.First, s.Last = min(s.First, o.First), max(s.Last, o.Last)
	s.Stories, s.Hours, s.AtDefault, s.Virtual = s.Stories+o.Stories, s.Hours+o.Hours, s.AtDefault+o.AtDefault, s.Virtual+o.Virtual
	s.Took += o.Took
	s.Calls, s.Launched, s.Jobs, s.Restarts = s.Calls+o.Calls, s.Launched+o.Launched, s.Jobs+o.Jobs, s.Restarts+o.Restarts
	s.Requests, s.Ready, s.Failed, s.Violations = s.Requests+o.Requests, s.Ready+o.Ready, s.Failed+o.Failed, s.Violations+o.Violations
	s.Faults, s.Events = plus(s.Faults, o.Faults), plus(s.Events, o.Events)
	if o.Settled > s.Settled {
		s.Settled, s.SettledSeed = o.Settled, o.SettledSeed
	}
}

// Serves reports whether at least half of the requests were served: an installation that serves few breaks few laws.
func (s *Sum) Serves() bool { return s.Stories < 2 || 2*s.Ready >= s.Requests }

// Injected is the number of faults of calls.
func (s *Sum) Injected() int {
	n := 0
	for _, of := range s.Faults {
		n += of
	}
	return n
}

// Tell says it in lines of key and value.
func (s *Sum) Tell() string {
	took := max(s.Took, time.Millisecond)
	var b strings.Builder
	fmt.Fprintf(&b, "%d stories, seeds %d to %d, in %s of one process\n", s.Stories, s.First, s.Last, took.Round(time.Millisecond))
	fmt.Fprintf(&b, "instance-hours %.0f, of these %.0f at the product's own intervals, the others at intervals times %d\n", s.Hours, s.AtDefault, sim.SlowPace)
	fmt.Fprintf(&b, "virtual time %s, %.0f times as fast as real; %.0f instance-hours per second\n", s.Virtual.Round(time.Second), s.Virtual.Seconds()/took.Seconds(), s.Hours/took.Seconds())
	fmt.Fprintf(&b, "calls %d, machines %d, jobs %d, requests %d: answered Ready %d times, Failed %d\n", s.Calls, s.Launched, s.Jobs, s.Requests, s.Ready, s.Failed)
	fmt.Fprintf(&b, "controllers restarted %d times\n", s.Restarts)
	fmt.Fprintf(&b, "faults of calls:%s\nevents:%s\n", counts(s.Faults), counts(s.Events))
	fmt.Fprintf(&b, "longest time to settle %s (seed %d), at intervals times 1", s.Settled.Round(time.Millisecond), s.SettledSeed)
	return b.String()
}

func counts[K ~string](m map[K]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, " %s %d", k, m[k])
	}
	return b.String()
}

// plus adds counts to counts.
func plus[K comparable](to, from map[K]int) map[K]int {
	if to == nil {
		to = map[K]int{}
	}
	for k, n := range from {
		to[k] += n
	}
	return to
}
