package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// table is the account of a soak, for people. Nothing in it is asserted: a busy machine is slow.
func (s *soak) table() string {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "back end %s, seed %d, %s\n\n", l.backend, s.seed, time.Since(s.began).Round(time.Second))
	for _, what := range slices.Sorted(maps.Keys(l.counts)) {
		fmt.Fprintf(&b, "%6d  %s\n", l.counts[what], what)
	}
	fmt.Fprintf(&b, "%6d  machines launched\n\n%-52s %5s %9s %9s %9s\n", len(s.witness.Instances()), "", "n", "p50", "p99", "max")
	row := func(name string, of func(restart) time.Duration, want func(restart) bool) {
		var times []time.Duration
		for _, r := range l.restarts {
			if want(r) {
				times = append(times, of(r))
			}
		}
		quantiles(&b, name, times)
	}
	alone := func(r restart) bool { return !r.both && !r.beside }
	both := func(r restart) bool { return r.both && !r.beside }
	led := func(r restart) bool { return r.lead > 0 && !r.beside }
	lead := func(r restart) time.Duration { return r.lead }
	row("kill of the leader to the next one leading (G13)", lead, alone)
	row("kill of both to one of them leading", lead, both)
	row("leading to the first claim of a waiting request (G6)", func(r restart) time.Duration { return r.claim - r.lead }, led)
	row("leading to the answer of a waiting request", func(r restart) time.Duration { return r.ready - r.lead }, led)
	row("kill of the leader to the first claim", func(r restart) time.Duration { return r.claim }, alone)
	row("kill of the leader to the answer", func(r restart) time.Duration { return r.ready }, alone)
	row("the same, beside another fault", func(r restart) time.Duration { return r.ready }, func(r restart) bool { return r.beside })
	quantiles(&b, "one read of the whole table, from outside", l.reads)
	quantiles(&b, "requests, from command to answer", l.answers)
	return b.String()
}

// quantiles writes one row.
func quantiles(b *strings.Builder, name string, times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	at := func(q float64) string {
		return fmt.Sprintf("%.3f s", times[min(len(times)-1, int(q*float64(len(times))))].Seconds())
	}
	fmt.Fprintf(b, "%-52s %5d %9s %9s %9s\n", name, len(times), at(.5), at(.99), at(1))
}
