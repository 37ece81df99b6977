package sim

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Singles returns every single fault that the story whose calls are in made can meet: for each site the
// first call from it, with each kind that its contract allows. Sites are what the contracts offer and
// the story used; nobody lists them.
func Singles(made map[Call]int) []Fault {
	first := map[Site]Call{}
	for c := range made {
		if have, ok := first[c.Site]; !ok || c.About < have.About {
			first[c.Site] = c
		}
	}
	var out []Fault
	for _, c := range first {
		for _, kind := range c.Kinds() {
			out = append(out, Fault{c, 1, kind})
		}
	}
	slices.SortFunc(out, func(a, b Fault) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

// PairStory is the shortest story with all of provision and release, cold and warm, in it: there are some ten
// thousand pairs. Its one controller comes back within seconds, and some looks are less or more often than by
// default, so that it is over soon: where a fault keeps a client from giving back, the run's time ends after soonOver.
func PairStory() Script {
	return Script{
		Seed: 1, Boot: 5 * time.Second, Idle: 10 * time.Second,
		Tempo: Tempo{IdlePoll: time.Second, Runners: time.Minute},
		Steps: []Step{
			Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: 2 * time.Second, Max: soonOver}),
			Begin(20*time.Second, Workflow{ID: "200", Count: 1, Jobs: 1, Job: time.Second, Max: soonOver}),
		},
	}
}

// Pairs returns every pair of faults on the path of provision and release: at two sites, or of two kinds
// in a row at one. One that hangs is to its caller as one that is throttled late: singles have it.
func Pairs(made map[Call]int) [][]Fault {
	path := slices.DeleteFunc(Singles(made), func(f Fault) bool { return !f.onPath() || f.Kind == Hangs })
	var out [][]Fault
	for i, a := range path {
		for _, b := range path[i:] {
			if a.Call == b.Call {
				b.N = 2
			}
			out = append(out, []Fault{a, b})
		}
	}
	return out
}

// onPath reports whether a call of the site lets a request or an instance go on: all with an effect, and what
// clients and agents learn by reading, but not what watches, compares or renews in the background.
func (s Site) onPath() bool {
	for _, background := range []string{"Lease", "Heartbeat", "RunClient", "Watch", "machine.Interrupted"} {
		if strings.Contains(s.Method+" "+s.Detail, background) {
			return false
		}
	}
	return !slices.Contains(reads, s.Method) || s.Method == "store.Get"
}
