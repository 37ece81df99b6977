// Package costs says what machines cost: for how long each booted, served runs and was idle, and at which price.
//
// All of it is found in the machines' own records, so that two who count the same time come to the same figures, and what is
// counted in two steps is what is counted in one. Dollars are estimates: list prices of machines, without disks, traffic and
// what an account has negotiated. The package does no I/O and reads no clock.
package costs

import (
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Phase is what a machine is paid for.
type Phase int

// The phases.
const (
	Booting Phase = iota // from its launch until it was first handed over, or given back
	Busy                 // from its claim, or its first hand-over, until it was given back
	Idle                 // all else: in the release handshake, and in the pool
)

// Segment is a time in which a machine was in one phase.
type Segment struct {
	From, To time.Time
	Phase    Phase
	Run      string // the request that it was for, as histories name it; "": none
}

// step is what an entry of a history begins.
type step struct {
	phase  Phase
	before Phase // what came before, where the history does not reach so far
}

// steps are the entries that begin another phase.
var steps = map[store.Code]step{
	store.CodeLaunched:   {phase: Booting, before: Booting},
	store.CodeHandedOver: {phase: Busy, before: Busy},
	store.CodeClaimed:    {phase: Busy, before: Idle},
	store.CodeReleased:   {phase: Idle, before: Busy},
	store.CodeUnclaimed:  {phase: Idle, before: Busy},
}

// Segments returns what a machine was from its launch until an instant, or until its end if that was sooner, without gaps. A
// history keeps the newest entries alone: what was before the first of them is told as far as they show it.
func Segments(in store.Instance, until time.Time) []Segment {
	var out []Segment
	now := Segment{From: in.CreatedAt.Time, Phase: phaseOf(in), Run: in.RunID.Noted()}
	end := until
	if in.State == statemachine.Terminated {
		end = earlier(until, in.Since.Time)
	}
	first := true
	for _, e := range in.History.Entries(in.CreatedAt) {
		begins, is := steps[e.Code]
		if !is {
			continue
		}
		if first {
			now.Phase, now.Run = begins.before, ""
			first = false
		}
		next := Segment{From: e.At, Phase: begins.phase}
		switch e.Code {
		case store.CodeLaunched, store.CodeClaimed:
			next.Run = e.Detail
		case store.CodeHandedOver:
			next.Run = now.Run
		default:
		}
		if next.Phase == now.Phase && next.Run == now.Run {
			continue
		}
		out = now.closed(out, earlier(e.At, end))
		now = next
	}
	if now.Run == "" && now.Phase == phaseOf(in) {
		now.Run = in.RunID.Noted() // the history may begin after the claim
	}
	return now.closed(out, end)
}

// closed appends the segment that ends then, unless it has no length.
func (s Segment) closed(to []Segment, end time.Time) []Segment {
	if s.To = end; !s.To.After(s.From) {
		return to
	}
	return append(to, s)
}

// within is how much of it is between two instants.
func (s Segment) within(from, to time.Time) time.Duration {
	if s.From.After(from) {
		from = s.From
	}
	return max(0, earlier(s.To, to).Sub(from))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// phaseOf is what a machine is by its state alone.
func phaseOf(in store.Instance) Phase {
	switch in.State {
	case statemachine.Created:
		return Booting
	case statemachine.Claimed, statemachine.Running:
		return Busy
	case statemachine.Idle, statemachine.Terminated, statemachine.None:
	}
	return Idle
}
