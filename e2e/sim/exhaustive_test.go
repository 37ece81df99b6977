package sim_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

var everyFlag = flag.Int("sim.every", sampled(101, 503), "of the exhaustive modes, one story in so many; 1: all")

// sampled is how much of something is done by default, and with the race detector, which takes so long.
func sampled(without, with int) int {
	if raced {
		return with
	}
	return without
}

// turns tells which of the stories of an exhaustive mode are this process's: one in -sim.every, and of those
// one in n by -sim.shard=i/n.
func turns(t *testing.T) func(story int) bool {
	t.Helper()
	shard, of, err := parseShard(*shardFlag)
	check(t, err)
	if *everyFlag > 1 {
		t.Logf("only one story in %d: all of them with -sim.every=1, as in make sim", *everyFlag)
	}
	return func(story int) bool { return story%*everyFlag == 0 && story / *everyFlag % of == shard }
}

// exhausted counts what an exhaustive mode lived through.
type exhausted struct {
	stories, faults, calls, violations int
	hours                              float64
	settled                            time.Duration // longest

	covered covering
}

func (e exhausted) String() string {
	return fmt.Sprintf("stories %d, faults %d, calls %d, violations %d, instance-hours %.0f, longest time to settle %s",
		e.stories, e.faults, e.calls, e.violations, e.hours, e.settled)
}

// broken tells a story with faults and expects no violation. It reports whether all of them happened.
func (e *exhausted) broken(t *testing.T, sc sim.Script, faults ...sim.Fault) (r sim.Report, all bool) {
	t.Helper()
	sc.Faults = faults
	r = sim.Run(t, sc)
	e.stories, e.faults, e.calls, e.hours = e.stories+1, e.faults+len(r.Fired), e.calls+r.Calls, e.hours+r.Hours
	e.settled, e.violations = max(e.settled, r.Settled), e.violations+len(r.Violations)
	e.covered.add(t, sc, r)
	sound(t, fmt.Sprintf("with %v", faults), r)
	return r, len(r.Fired) == len(faults)
}

// G10: every story, and every site of it with every fault its contract allows.
func TestSingles(t *testing.T) {
	mine := turns(t)
	var e exhausted
	n := 0
	for _, story := range sim.Stories() {
		quiet := sim.Run(t, story.Script)
		e.violations += len(quiet.Violations)
		sound(t, story.Name+": without a fault", quiet)
		if story.Alone {
			continue
		}
		for _, f := range sim.Singles(quiet.Made) {
			if n++; !mine(n - 1) {
				continue
			}
			r, _ := e.broken(t, story.Script, f)
			if what, text := singleWrong(story, f, quiet, r); what != "" {
				t.Errorf("%s: %s: %s", story.Name, what, text)
			}
		}
	}
	e.covered.flush(t)
	t.Logf("%d single faults, lived through %s", n, e)
	tally(t, e.stories, e.faults, e.hours, e.violations)
}

// singleWrong says what a story with one fault came to that it should not, besides broken laws; "": nothing.
func singleWrong(story sim.Story, f sim.Fault, quiet, r sim.Report) (what, text string) {
	if len(r.Fired) != 1 {
		return "the fault of a single happens", fmt.Sprintf("%s happened %d times", f, len(r.Fired))
	}
	if r.Launched != quiet.Launched && f.Role != sim.Client && !story.Exempt && !costs(f) {
		return "a single fault launches no machine", fmt.Sprintf("with %s %d machines were launched, want %d", f, r.Launched, quiet.Launched)
	}
	if r.Terms > quiet.Terms && f.Role == sim.Controller && f.Kind != sim.CrashBefore && f.Kind != sim.CrashAfter && f.Kind != sim.Hangs {
		return "a single fault that kills nobody costs no leader", fmt.Sprintf("with %s there were %d terms, want %d", f, r.Terms, quiet.Terms)
	}
	return "", ""
}

// G10: every pair of faults on the path of provision and release. Where the first keeps the second from
// happening (a client that died asks no more), the pair does not count.
func TestPairs(t *testing.T) {
	mine := turns(t)
	var e exhausted
	happened := 0
	pairs := sim.Pairs(sim.Run(t, sim.PairStory()).Made)
	for i, pair := range pairs {
		if mine(i) {
			if _, both := e.broken(t, sim.PairStory(), pair...); both {
				happened++
			}
		}
	}
	if happened < e.stories*4/5 {
		t.Errorf("of %d pairs only %d happened", e.stories, happened)
	}
	e.covered.flush(t)
	t.Logf("%d pairs, %d happened, lived through %s", len(pairs), happened, e)
	tally(t, e.stories, e.faults, e.hours, e.violations)
}

// costs reports whether a fault may cost a machine: one that is ill, or a launch that hangs for two minutes and keeps the first run
// from giving back what the second could have.
func costs(f sim.Fault) bool {
	return f.Kind == sim.Fails || f.Kind == sim.Hangs && strings.HasPrefix(f.Method, "fleet.")
}
