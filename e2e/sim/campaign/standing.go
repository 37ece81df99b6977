package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// result is what came of a campaign.
type result struct {
	name       string
	runs       int
	faults     int
	hours      float64 // instance-hours
	violations int
	problems   int // anything else that failed
	took       time.Duration
	covered    *lived.Coverage // nil: not told
}

func (r result) failed() bool { return r.violations > 0 || r.problems > 0 || r.runs == 0 }

// standing runs a test of the simulation in several processes at once, each of which takes its share.
func standing(test string, args ...string) func(context.Context, options, string, string) result {
	return func(ctx context.Context, o options, _, program string) result {
		all := result{covered: &lived.Coverage{}}
		var mu sync.Mutex
		add := func(p lived.Progress) {
			mu.Lock()
			defer mu.Unlock()
			all.covered.Add(p.Part)
		}
		var shards errgroup.Group
		for i := range o.procs {
			shards.Go(func() error {
				shard := fmt.Sprintf("-sim.shard=%d/%d", i, o.procs)
				text, _, err := test1(ctx, o.root, program, progresses(add), append([]string{"-test.run=^" + test + "$", "-sim.tell", shard}, args...)...)
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprint(o.out, complaints(text))
				all.add(tally(text))
				if err != nil && all.violations == 0 {
					fmt.Fprintf(o.out, "%s %s: %v\n", test, shard, err)
					all.problems++
				}
				return nil
			})
		}
		_ = shards.Wait() // they return none
		if len(all.covered.Sites) == 0 {
			all.covered = nil // a test that tells of none
		}
		return all
	}
}

// kills is standing for kills of the leader, whose number is an option.
func kills(ctx context.Context, o options, work, program string) result {
	return standing("TestKills", fmt.Sprintf("-sim.seed=%d", o.seed), fmt.Sprintf("-sim.kills=%d", o.kills))(ctx, o, work, program)
}

// counted is how the tests of the simulation tell what they did.
var counted = regexp.MustCompile(`tally: stories=(\d+) faults=(\d+) hours=([0-9.e+]+) violations=(\d+)`)

// tally reads the counts in a test's output.
func tally(text string) result {
	var r result
	for _, m := range counted.FindAllStringSubmatch(text, -1) {
		n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v } // digits, by the expression
		h, _ := strconv.ParseFloat(m[3], 64)
		r.add(result{runs: n(1), faults: n(2), hours: h, violations: n(4)})
	}
	return r
}

func (r *result) add(o result) {
	r.runs, r.faults, r.hours, r.violations, r.problems = r.runs+o.runs, r.faults+o.faults, r.hours+o.hours, r.violations+o.violations, r.problems+o.problems
}

// most is how many lines of a test's output are told.
const most = 200

// complaints returns what a test said, without the noise of its frame.
func complaints(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "PASS") || counted.MatchString(line) {
			continue
		}
		if n++; n > most {
			b.WriteString("…\n")
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// table is the summary.
func table(results []result, took time.Duration) string {
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "%-9s %9v %9v %15v %11v %9v %8v\n", cells...) }
	row("campaign", "runs", "faults", "instance-hours", "violations", "problems", "seconds")
	for _, r := range results {
		row(r.name, r.runs, r.faults, strconv.FormatFloat(r.hours, 'f', 0, 64), r.violations, r.problems, strconv.FormatFloat(r.took.Seconds(), 'f', 0, 64))
	}
	fmt.Fprintf(&b, "%.0f s in all\n", took.Seconds())
	return b.String()
}

// shared is standing for the exhaustive modes, of which a share may be asked for.
func shared(test string) func(context.Context, options, string, string) result {
	return func(ctx context.Context, o options, work, program string) result {
		return standing(test, fmt.Sprint("-sim.every=", o.oneIn()))(ctx, o, work, program)
	}
}
