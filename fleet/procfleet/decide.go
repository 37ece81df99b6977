//go:build unix

package procfleet

import (
	"time"

	"github.com/remuda-run/remuda/fleet"
)

// Limits of the fleet itself.
const (
	// keepEnded is how long an ended machine stays listed: about an hour, as EC2 does.
	keepEnded = time.Hour
	// watchPeriod is the longest time in which a leader's end, or another process's launch, is
	// noticed.
	watchPeriod = 250 * time.Millisecond
	// hurryPeriod is the shortest time between two looks at a machine that changes.
	hurryPeriod = 10 * time.Millisecond
)

// step is what is due for a machine. Every step may be repeated.
type step string

const (
	stepNone      step = ""
	stepSpawn     step = "spawn"     // start the agent
	stepArrive    step = "arrive"    // it runs: Up
	stepNotify    step = "notify"    // write the interruption notice
	stepInterrupt step = "interrupt" // its time is over: Ending
	stepVanish    step = "vanish"    // sudden loss: Ending without grace
	stepExit      step = "exit"      // the leader has ended unasked: Ending, and no grace is needed
	stepStop      step = "stop"      // SIGTERM to the leader
	stepKill      step = "kill"      // SIGKILL to all that is left; none left: Ended
	stepRemove    step = "remove"    // delete the folder
)

// sight is what a look at the machine showed.
type sight struct {
	leader  bool // the recorded leader runs
	started bool // it has become the agent, or was about to
}

// decide says what is due for r at now, or else when to look again at the latest. A time that is
// reached exactly has come.
func decide(r record, s sight, now time.Time) (step, time.Time) {
	switch r.State {
	case fleet.Starting:
		return decideStarting(r, s, now)
	case fleet.Up:
		return decideUp(r, s, now)
	case fleet.Ending:
		switch {
		case r.KillAt.IsZero():
			return stepStop, now
		case s.leader && now.Before(r.KillAt):
			return stepNone, earliest(r.KillAt, hurry(r.EndingAt, now))
		default:
			return stepKill, now
		}
	case fleet.Ended:
		return due(stepRemove, r.EndedAt.Add(keepEnded), now)
	}
	return stepNone, now.Add(watchPeriod)
}

// decideStarting starts the agent unless it has once been let go. A leader that ended before never
// was the agent: it is shown by the missing mark, and may be replaced.
func decideStarting(r record, s sight, now time.Time) (step, time.Time) {
	switch {
	case s.started && s.leader:
		return stepArrive, now
	case s.started:
		return stepExit, now
	case s.leader: // about to
		return stepNone, hurry(r.BootAt, now)
	default:
		return due(stepSpawn, r.BootAt, now)
	}
}

func decideUp(r record, s sight, now time.Time) (step, time.Time) {
	wake := now.Add(watchPeriod)
	if !s.leader {
		return stepExit, now
	}
	for _, next := range []struct {
		step step
		at   time.Time
	}{
		{stepVanish, r.VanishAt},
		{stepInterrupt, r.EndAt},
		{stepNotify, r.NoticeAt},
	} {
		if next.at.IsZero() || next.step == stepNotify && !r.EndAt.IsZero() {
			continue
		}
		if !now.Before(next.at) {
			return next.step, now
		}
		wake = earliest(wake, next.at)
	}
	return stepNone, wake
}

func due(what step, at, now time.Time) (step, time.Time) {
	if now.Before(at) {
		return stepNone, at
	}
	return what, now
}

// hurry returns when to look again at a change that began at since: soon at first, and less often
// the longer it lasts, so that a process that cannot be killed costs little.
func hurry(since, now time.Time) time.Time {
	return now.Add(min(max(now.Sub(since)/8, hurryPeriod), watchPeriod))
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
