package statemachine

import (
	"errors"
	"fmt"
	"time"
)

// Limits bound how long an instance may stay in a state and how long each check may take.
// Zero is invalid, not "forever".
type Limits struct {
	Created time.Duration // boot plus runner registration
	Claimed time.Duration // re-registration only, no boot
	Running time.Duration // a request's max runtime overrides it
	Idle    time.Duration // price of keeping warm against a cold start

	ClaimGate  time.Duration // claimed until it reported ready
	CreateGate time.Duration // created until it reported ready: boot, script, registration
	Handshake  time.Duration // unowned until it reported clean, counted from the end of the last job

	Beat           time.Duration // period of the agent's heartbeat
	Silence        time.Duration // no heartbeat: lost, unless running
	RunningSilence time.Duration // no heartbeat: lost, while a job may run
	Visibility     time.Duration // how long the fleet may not show a new instance
	AgentGrace     time.Duration // past its threshold the agent halts the machine
}

// DefaultLimits returns the limits of an installation that configures none.
func DefaultLimits() Limits {
	return Limits{
		Created: 10 * time.Minute,
		Claimed: 5 * time.Minute,
		Running: 30 * time.Minute,
		Idle:    7 * time.Minute,

		ClaimGate:  10 * time.Second,  // GitHub takes 2.7 s (docs/goals.md) and p99 twice that
		CreateGate: 180 * time.Second, // launch 3 s, boot 16 s, script up to 2 min, registration (docs/goals.md)
		Handshake:  120 * time.Second, // deregistering, and a scrub with its script

		Beat:           5 * time.Second, // 0.2 write units/s an instance (docs/architecture.md#sizes)
		Silence:        60 * time.Second,
		RunningSilence: 5 * time.Minute,
		Visibility:     5 * time.Minute, // EC2 Developer Guide, "Eventual consistency": minutes
		AgentGrace:     time.Minute,
	}
}

// Window is the greatest age of a healthy heartbeat: three periods, so that two missed
// reports fail no instance.
func (l Limits) Window() time.Duration { return 3 * l.Beat }

// IdleBeat is the period of the heartbeat of a machine that waits for its next run: three periods, so that it costs a
// third, but at most a quarter of Silence, so that IdleWindow ends before that.
func (l Limits) IdleBeat() time.Duration { return max(l.Beat, min(3*l.Beat, l.Silence/4)) }

// IdleWindow is the greatest age of a healthy heartbeat that says that the next comes after IdleBeat.
func (l Limits) IdleWindow() time.Duration { return 3 * l.IdleBeat() }

// For returns the time an instance may stay in s. Terminated has none.
func (l Limits) For(s State) time.Duration {
	switch s {
	case Created:
		return l.Created
	case Claimed:
		return l.Claimed
	case Running:
		return l.Running
	case Idle:
		return l.Idle
	case None, Terminated:
	}
	return 0
}

// Validate returns every limit that is not positive, joined.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"created", l.Created}, {"claimed", l.Claimed}, {"running", l.Running}, {"idle", l.Idle},
		{"claimGate", l.ClaimGate}, {"createGate", l.CreateGate}, {"handshake", l.Handshake},
		{"beat", l.Beat}, {"silence", l.Silence}, {"runningSilence", l.RunningSilence},
		{"visibility", l.Visibility}, {"agentGrace", l.AgentGrace},
	} {
		if f.value <= 0 {
			errs = append(errs, fmt.Errorf("limits.%s: must be greater than 0, got %s", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}
