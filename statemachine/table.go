// Package statemachine holds the two tables of remuda: the life of an instance and the life of a
// request. They are data; the code, docs/statemachine.md and `remuda fsm` are all read from them.
//
// The package is a leaf. It does no I/O and reads no clock: callers pass one reading of it in.
// See docs/architecture.md#state-machines.
package statemachine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// State is a stored state of an instance. The zero value means that no record exists yet.
type State string

// The five states that are ever stored (S01).
const (
	None       State = ""
	Created    State = "created"
	Claimed    State = "claimed"
	Running    State = "running"
	Idle       State = "idle"
	Terminated State = "terminated"
)

// States lists every stored state in the order of an instance's life.
func States() []State { return []State{Created, Claimed, Running, Idle, Terminated} }

// Valid reports whether s may be stored.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Owned reports whether an instance in s belongs to a request.
func (s State) Owned() bool { return s == Created || s == Claimed || s == Running }

// Event is what happens to an instance.
type Event string

// The events of the instance table.
const (
	Launched   Event = "launched"
	HandedOver Event = "handed over"
	Claim      Event = "claimed"
	Unclaimed  Event = "unclaimed"
	Released   Event = "released"
	Pooled     Event = "pooled"
	Renewed    Event = "renewed"
	Expired    Event = "expired"
	Rejected   Event = "rejected"
	Lost       Event = "lost"
	Dismissed  Event = "dismissed"
)

// Events lists every event in the order of the table.
func Events() []Event {
	return []Event{Launched, HandedOver, Claim, Unclaimed, Released, Pooled, Renewed, Expired, Rejected, Lost, Dismissed}
}

// row is one row of a table: in From, On leads to To.
type row[S, E ~string] struct {
	From S
	On   E
	To   S
	Why  string // shown verbatim in docs/statemachine.md and by `remuda fsm`
}

// Rule is a row of the instance table.
type Rule = row[State, Event]

const (
	whyHandedOver = "the request is complete; this instance reported ready for it and is healthy"
	whyUnclaimed  = "the request failed or is over, and this instance is healthy"
	whyRenewed    = "its request still wants it, or a job runs on it, and it reported ready or waits for GitHub alone"
	whyExpired    = "threshold passed"
	whyRejected   = "failed a check: script, registration, deregistration, scrub, or its agent did not take over what it was given"
	whyLost       = "the fleet says it is gone, or it was silent for too long"
	whyDismissed  = "operator's drain; on an idle one interruption notice, outdated template, or more of them than its floor lets stay"
)

var rules = []Rule{
	{None, Launched, Created, "the launch returned its id, or the sweep adopted it"},
	{Created, HandedOver, Running, whyHandedOver},
	{Claimed, HandedOver, Running, whyHandedOver},
	{Idle, Claim, Claimed, "a request won the conditional write; only if idle, unowned, pooled and not expired"},
	{Created, Unclaimed, Idle, whyUnclaimed},
	{Claimed, Unclaimed, Idle, whyUnclaimed},
	{Running, Released, Idle, "the run is over and no job runs on it"},
	{Idle, Pooled, Idle, "the release handshake is complete: deregistered, scrubbed, clean"},
	{Created, Renewed, Created, whyRenewed},
	{Claimed, Renewed, Claimed, whyRenewed},
	{Idle, Renewed, Idle, "its floor wants it, and it is younger than maxAge"},
	{Created, Expired, Terminated, whyExpired},
	{Claimed, Expired, Terminated, whyExpired},
	{Running, Expired, Terminated, whyExpired},
	{Idle, Expired, Terminated, whyExpired},
	{Created, Rejected, Terminated, whyRejected},
	{Claimed, Rejected, Terminated, whyRejected},
	{Running, Rejected, Terminated, whyRejected},
	{Idle, Rejected, Terminated, whyRejected},
	{Created, Lost, Terminated, whyLost},
	{Claimed, Lost, Terminated, whyLost},
	{Running, Lost, Terminated, whyLost},
	{Idle, Lost, Terminated, whyLost},
	{Created, Dismissed, Terminated, whyDismissed},
	{Claimed, Dismissed, Terminated, whyDismissed},
	{Running, Dismissed, Terminated, whyDismissed},
	{Idle, Dismissed, Terminated, whyDismissed},
}

// Rules returns a copy of the instance table.
func Rules() []Rule { return slices.Clone(rules) }

// ErrNoRule means that the table has no row for a state and an event. It is a bug of the caller or
// a decision made on a record that has changed since; a retry of the same event cannot cure it.
var ErrNoRule = errors.New("no rule")

// Next returns the state that on leads to, or ErrNoRule.
func Next(from State, on Event) (State, error) { return next(rules, from, on) }

func next[S, E ~string](rules []row[S, E], from S, on E) (S, error) {
	for _, r := range rules {
		if r.From == from && r.On == on {
			return r.To, nil
		}
	}
	return "", fmt.Errorf("event %q in state %q: %w", on, cmp.Or(from, "(none)"), ErrNoRule)
}
