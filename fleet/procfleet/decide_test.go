//go:build linux

package procfleet

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/fleet"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestDecide_AtTheEdgeOfEveryTime(t *testing.T) {
	up, down := sight{leader: true}, sight{}
	base := func(state fleet.State, change func(*record)) record {
		r := record{State: state, LaunchedAt: noon.Add(-time.Hour), BootAt: noon.Add(-time.Hour)}
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name, reason string
		r            record
		s            sight
		want         step
		wake         time.Time // zero: at most watchPeriod ahead
	}{
		{"BootNotYet", "one tick before its boot delay ends nothing runs", base(fleet.Starting, func(r *record) { r.BootAt = noon.Add(1) }), down, stepNone, noon.Add(1)},
		{"Boot", "the instant itself is due", base(fleet.Starting, func(r *record) { r.BootAt = noon }), down, stepSpawn, noon},
		{"AtTheGate", "it was let go or is about to end", base(fleet.Starting, func(*record) {}), up, stepNone, time.Time{}},
		{"Started", "the mark and the process show an agent", base(fleet.Starting, func(*record) {}), sight{leader: true, started: true}, stepArrive, noon},
		{"StartedAndGone", "an agent that ran is never started again", base(fleet.Starting, func(*record) {}), sight{started: true}, stepExit, noon},
		{"Up", "nothing is due", base(fleet.Up, func(*record) {}), up, stepNone, noon.Add(watchPeriod)},
		{"UpGone", "the machine lives as long as its leader", base(fleet.Up, func(*record) {}), down, stepExit, noon},
		{"VanishNotYet", "one tick before", base(fleet.Up, func(r *record) { r.VanishAt = noon.Add(1) }), up, stepNone, noon.Add(1)},
		{"Vanish", "without notice, even if one is due", base(fleet.Up, func(r *record) { r.VanishAt, r.NoticeAt = noon, noon }), up, stepVanish, noon},
		{"NoticeNotYet", "one tick before", base(fleet.Up, func(r *record) { r.NoticeAt = noon.Add(1) }), up, stepNone, noon.Add(1)},
		{"Notice", "the instant itself is due", base(fleet.Up, func(r *record) { r.NoticeAt = noon }), up, stepNotify, noon},
		{"NoticeGiven", "once; then its end is awaited", base(fleet.Up, func(r *record) { r.NoticeAt, r.EndAt = noon, noon.Add(1) }), up, stepNone, noon.Add(1)},
		{"NoticeOver", "the notice has run out", base(fleet.Up, func(r *record) { r.NoticeAt, r.EndAt = noon.Add(-1), noon }), up, stepInterrupt, noon},
		{"EndingFresh", "SIGTERM comes first", base(fleet.Ending, func(*record) {}), up, stepStop, noon},
		{"EndingFreshGone", "there too, so that the grace is on record", base(fleet.Ending, func(*record) {}), down, stepStop, noon},
		{"GraceNotOver", "one tick before its end the agent may go on", base(fleet.Ending, func(r *record) { r.KillAt = noon.Add(1); r.EndingAt = noon }), up, stepNone, noon.Add(1)},
		{"GraceOver", "the instant itself is due", base(fleet.Ending, func(r *record) { r.KillAt = noon }), up, stepKill, noon},
		{"GraceNotNeeded", "the agent has ended: the rest is killed at once", base(fleet.Ending, func(r *record) { r.KillAt = noon.Add(1) }), down, stepKill, noon},
		{"EndedListed", "one tick before it is forgotten", base(fleet.Ended, func(r *record) { r.EndedAt = noon.Add(1 - keepEnded) }), down, stepNone, noon.Add(1)},
		{"EndedForgotten", "the instant itself is due", base(fleet.Ended, func(r *record) { r.EndedAt = noon.Add(-keepEnded) }), down, stepRemove, noon},
	} {
		got, wake := decide(tt.r, tt.s, noon)
		if got != tt.want {
			t.Errorf("%s: decide = %q, want %q: %s", tt.name, got, tt.want, tt.reason)
		}
		if tt.wake.IsZero() && (wake.Before(noon) || wake.After(noon.Add(watchPeriod))) || !tt.wake.IsZero() && !wake.Equal(tt.wake) {
			t.Errorf("%s: decide wakes at %s, want %s", tt.name, wake.Sub(noon), tt.wake.Sub(noon))
		}
	}
}

// A model of one machine under a fleet that is killed at random: its agent is let go at most once,
// no agent runs that is not on record, and whatever happens it ends when told to.
func TestDecide_RandomCrashes_AgentRunsAtMostOnce_H32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{now: noon, r: record{State: fleet.Starting, BootAt: noon.Add(time.Second)}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
			case 1:
				w.leader = false // killed from outside
				w.gate = false
			case 2:
				w.r.end(causeTerminated, w.now)
			case 3:
				w.shim()
			default:
				w.turn(rapid.IntRange(0, 4).Draw(t, "crash after"))
			}
			if w.runs > 1 {
				t.Fatalf("agent started %d times", w.runs)
			}
			if w.started && w.leader && !w.recorded {
				t.Fatal("an agent runs that is not on record")
			}
		}
		w.r.end(causeTerminated, w.now)
		for range 20 {
			w.now = w.now.Add(time.Second)
			w.shim()
			w.turn(5)
		}
		if w.r.State != fleet.Ended || w.leader {
			t.Fatalf("told to end, the machine is %s and its leader lives = %v", w.r.State, w.leader)
		}
	})
}

// world is what decide acts on: the record on disk and the one process of the machine.
type world struct {
	now      time.Time
	r        record
	leader   bool // a process exists
	recorded bool // and is the one on record
	gate     bool // it waits, and its line is in the pipe
	started  bool // the mark is there
	runs     int
}

// shim lets a waiting process do what it does by itself.
func (w *world) shim() {
	switch {
	case w.leader && w.gate:
		w.gate, w.started = false, true
		w.runs++
	case w.leader && !w.started:
		w.leader = false // the pipe has ended without a line
	}
}

// turn takes one step as run.go does, in whose parts it may be killed.
func (w *world) turn(parts int) {
	what, _ := decide(w.r, sight{leader: w.leader && w.recorded, started: w.started}, w.now)
	next := w.r
	switch what {
	case stepSpawn:
		if w.leader && !w.recorded {
			w.shim() // an earlier one that no one let go sees the end of its pipe
		}
		if parts > 0 {
			w.leader, w.recorded, w.gate = true, false, false
		}
		if parts > 1 {
			w.recorded = true
		}
		if parts > 2 {
			w.gate = true
		}
		return
	case stepArrive:
		next.State = fleet.Up
	case stepExit:
		next.end(causeExited, w.now)
	case stepStop:
		next.KillAt = w.now.Add(time.Second)
	case stepKill:
		if w.leader {
			w.leader, w.gate = false, false
			return
		}
		next.State, next.EndedAt = fleet.Ended, w.now
	case stepNone, stepRemove:
	default:
		panic(fmt.Sprintf("step %q is not in the model", what))
	}
	if parts > 0 {
		w.r = next
	}
}

func TestHurry_SlowsDown(t *testing.T) {
	for _, tt := range []struct{ since, want time.Duration }{
		{0, hurryPeriod}, {8 * hurryPeriod, hurryPeriod}, {time.Second, 125 * time.Millisecond}, {time.Hour, watchPeriod},
	} {
		if got := hurry(noon.Add(-tt.since), noon).Sub(noon); got != tt.want {
			t.Errorf("hurry after %s = %s, want %s", tt.since, got, tt.want)
		}
	}
}
