package agent

import (
	"sync"
	"time"
)

// Reasons to halt.
const (
	haltBoot       = "no record by the boot deadline"
	haltThreshold  = "threshold passed"
	haltTerminated = "record says terminated"
	haltGone       = "record is gone"
)

// rechecks is how often within the grace the dead-man timer wakes at least, so that a step of the wall clock is
// noticed in time: every 5 s by default.
const rechecks = 12

// haltTry bounds one call of Machine.Halt, haltFirst and haltMax the pause between two.
const (
	haltTry   = 10 * time.Second
	haltFirst = 100 * time.Millisecond
	haltMax   = 5 * time.Second
)

// expiry knows the instant past which the machine must not live. It does no I/O.
type expiry struct {
	offset  func() time.Duration
	grace   time.Duration
	changed chan struct{}

	mu     sync.Mutex
	reason string
	lead   func() time.Duration // how far the clock that limit and anchor are of is ahead of ours
	limit  time.Time            // wall time
	anchor time.Time            // wall time when limit was learned
	at     time.Time            // our clock then, with its monotonic reading
}

// boot sets the limit that holds until a threshold is learned. set says when it was first set. It is
// of our clock: no store was asked yet, and what is learned of its clock later must not move it.
func (e *expiry) boot(limit, set, now time.Time) {
	e.set(haltBoot, func() time.Duration { return 0 }, limit, set, now)
}

// learn sets the limit to threshold plus grace. read says when the threshold was read, now is the
// clock: later than read if an earlier agent read it.
func (e *expiry) learn(threshold, read, now time.Time) {
	e.set(haltThreshold, e.offset, threshold.Add(e.grace), read, now)
}

func (e *expiry) set(reason string, lead func() time.Duration, limit, set, now time.Time) {
	offset := lead()
	anchor := now.Add(offset)
	if set := set.Add(offset); set.After(anchor) {
		anchor = set // the clock went back while no agent ran
	}
	e.mu.Lock()
	e.reason, e.lead, e.limit, e.anchor, e.at = reason, lead, limit.Round(0), anchor.Round(0), now
	e.mu.Unlock()
	poke(e.changed)
}

// left says how long the machine may live from now on, and why not longer.
func (e *expiry) left(now time.Time) (time.Duration, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	wall := now.Add(e.lead()).Round(0)
	return remaining(e.limit, e.anchor, wall, now.Sub(e.at)), e.reason
}

// remaining is the time until limit by the wall clock, or by the time that elapsed since the limit
// was learned at anchor, whichever is shorter: a wall clock set back must not prolong a life.
func remaining(limit, anchor, wall time.Time, elapsed time.Duration) time.Duration {
	return min(limit.Sub(wall), limit.Sub(anchor)-elapsed)
}
