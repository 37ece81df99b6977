package contain

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

// outliving are attacks that try to outlive their run, by the flags of hostile leave. "half" has the subordinate uid as its real and its
// saved uid, so no signal of the jobs' user reaches it, and has the jobs' user as its effective uid, so it reads what later jobs have.
var outliving = []struct{ name, flags string }{
	{"chain of 50 µs", "-kind chain -as half -life 50us"},
	{"8 chains of 50 µs", "-kind chain -as half -life 50us -wide 8"},
	{"3 chains of 200 µs", "-kind chain -as half -life 200us -wide 3"},
	{"chain of 1 ms", "-kind chain -as half -life 1ms"},
	{"8 chains of 1 ms", "-kind chain -as half -life 1ms -wide 8"},
	{"chain of 2 ms", "-kind chain -as half -life 2ms"},
	{"chain of 10 ms", "-kind chain -as half -life 10ms"},
	{"8 chains of 10 ms", "-kind chain -as half -life 10ms -wide 8"},
	{"5 chains of 200 µs, of the jobs' user", "-kind chain -as user -life 200us -wide 5"},
	{"4 chains of 1 ms, of the subordinate user alone", "-kind chain -as sub -life 1ms -wide 4"},
	{"2 chains of 1 ms, half in a namespace", "-kind chain -as half -ns mapped -life 1ms -wide 2"},
	{"8 chains of 50 µs, in a namespace", "-kind chain -as sub -ns mapped -life 50us -wide 8"},
	{"chain of 1 ms, in a namespace of the subordinate user", "-kind chain -as sub -ns own -life 1ms"},
	{"6 chains of 2 ms, in a namespace of the subordinate user", "-kind chain -as sub -ns own -life 2ms -wide 6"},
	{"ignores signals", "-kind deaf -as half"},
	{"stopped", "-kind stopped -as half"},
	{"stopped, in a namespace of the subordinate user", "-kind stopped -as sub -ns own"},
	{"traced", "-kind traced -as half"},
	{"traced, of the jobs' user", "-kind traced -as user"},
	{"traced, in a namespace", "-kind traced -as sub -ns mapped"},
	{"waits for its vfork", "-kind vfork -as half"},
	{"main thread exited", "-kind ghost -as half"},
	{"main thread exited, in a namespace of the subordinate user", "-kind ghost -as sub -ns own"},
	{"1000 processes", "-kind orphans -as half -wide 1000"},
}

// No process that a job starts is alive when the next run begins. Neither another uid nor a short life hides a process (H42).
func TestOutlives_H42_Review_S0(t *testing.T) {
	all := newAttacks(t)
	for i, attack := range outliving {
		t.Run(attack.name, func(t *testing.T) {
			w := *all.world
			w.T = program.T{TB: t}
			a := *all
			a.world = &w
			run := strconv.Itoa(1000 + i)
			defer a.giveBack(run, "2"+run)
			a.outlives(run, "2"+run, attack.flags)
		})
	}
}

// outlives plays an attack in one run, and wants nothing of it to be alive in the next.
func (a *attacks) outlives(run, next, flags string) {
	a.Helper()
	first := a.run(run, a.leaves(run, flags))
	if n := len(a.lines.Stood(run)); n != 1 {
		a.Fatalf("%d attacks began, want 1", n)
	}
	a.serves(next, func(second string) {
		for _, l := range a.lines.Alive(run) {
			a.steals(l)
			a.ends(l)
			a.Errorf("attack of run %s on machine %s is alive in the next run, on machine %s: %s", run, first, second, l.Said())
		}
	})
}

// giveBack ends the attack and its runs after a failure, so that the next attack finds a clean machine.
func (a *attacks) giveBack(runs ...string) {
	for _, run := range runs {
		if !a.Failed() {
			break
		}
		for _, l := range a.lines.Alive(run) {
			a.ends(l)
		}
		_, err := program.Run(a.Context(), a.dir, a.env, "release", "--id", run)
		a.Logf("release run %s: %v", run, err)
	}
	a.until("the process table has room", func() bool { return a.zombies() < 1000 })
}

// Processes that a job leaves behind are gone from the process table when the next run begins, although the agent has to read the status
// of each. So the agent and the next run can start processes (H42).
func TestZombies_H42_Review_S6(t *testing.T) {
	a := newAttacks(t)
	for i, wide := range []int{2, 3} {
		run := strconv.Itoa(1000 + i)
		machine := a.request(run)
		a.job(run, a.leaves(run, fmt.Sprintf("-kind bomb -as user -wide %d -count %d", wide, 14_000/wide)))
		a.until("the bomb is over", func() bool { return len(a.lines.Alive(run)) == 0 })
		a.Logf("%d zombies when run %s is released", a.zombies(), run)
		a.release(run)
		a.clean(machine)
		a.serves("2"+run, func(again string) {
			if n := a.zombies(); n != 0 {
				a.Errorf("%d zombies of run %s are left in the next run", n, run)
			}
			if again != machine {
				a.Errorf("the next run got machine %s, want %s again", again, machine)
			}
		})
		a.clean(machine)
		a.giveBack(run)
	}
}
