// Package timeline turns the histories of records into what people are told: how long each phase of a start took, what
// happened when, and one sentence that says why. It is pure: it reads no clock and does no I/O, and it takes any history,
// also one whose beginning was dropped or whose entries another program wrote.
package timeline

import (
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Name is the name of a phase, the same in metrics, traces and texts.
type Name string

// The phases of the start of one seat, in their order. A cold start is accepted, launch, boot, script, registration, hand-over;
// a warm one claimed, registration, hand-over. Before its claim it is accepted and handshake where its machine served another run until then.
const (
	Accepted     Name = "accepted"     // taken up, until a launch was asked for or the machine was given back by the run before
	Handshake    Name = "handshake"    // the machine comes back from the run before, until it is in the pool
	Claimed      Name = "claimed"      // taken up, or clean, until the claim was won
	Launch       Name = "launch"       // the launch call, until the machine's record was made
	Boot         Name = "boot"         // until the agent's first heartbeat was read
	Script       Name = "script"       // until the script had passed
	Registration Name = "registration" // until the listener is online, or one that was ahead has the request's label
	HandOver     Name = "hand-over"    // online, until handed over: it waits for the other seats
)

// Scrub is a part of each handshake: until the agent reports the machine clean. It is no phase of a start.
const Scrub Name = "scrub"

// Names lists them all.
var Names = []Name{Accepted, Handshake, Scrub, Claimed, Launch, Boot, Script, Registration, HandOver}

// Known reports whether n is the name of one phase. The others are names joined by "+": of phases between which no instant is known.
func (n Name) Known() bool { return slices.Contains(Names, n) }

// Outcome says how a phase ended.
type Outcome string

// The outcomes.
const (
	Done   Outcome = "done"
	Open   Outcome = "open"   // it lasts
	Failed Outcome = "failed" // the machine was lost, rejected or given back in it
)

// Phase is one part of the start of one seat.
type Phase struct {
	Name    Name       `json:"phase"`
	From    store.Time `json:"from"`
	To      store.Time `json:"to"` // of an open one the instant of the look
	Seconds float64    `json:"seconds"`
	Outcome Outcome    `json:"outcome"`
}

func newPhase(name Name, from, to time.Time, o Outcome) Phase {
	p := Phase{Name: name, From: store.At(from), To: store.At(to), Outcome: o}
	p.Seconds = p.Duration().Seconds()
	return p
}

// Duration is how long the phase took, or has taken.
func (p Phase) Duration() time.Duration { return p.To.Sub(p.From.Time) }

// Phases returns the phases in which st's attempt got the instance, one after the other without a gap; none if it never was
// that request's. A seat that was filled after Ready begins with the loss before it. now ends a phase that lasts.
func Phases(st store.RunStatus, in store.Instance, now time.Time) []Phase {
	s, ok := spellFor(in, st)
	if !ok {
		return nil
	}
	return s.phases(st, now)
}

func (s spell) phases(st store.RunStatus, now time.Time) []Phase {
	start := s.start(st)
	out, at := []Phase{}, start
	unknown := []string{}
	for _, m := range s.milestones(st, start) {
		unknown = append(unknown, string(m.ends))
		if m.at.IsZero() {
			continue
		}
		if m.at.After(at) || !m.at.Before(start) && m.at.Equal(at) {
			out = append(out, newPhase(Name(strings.Join(unknown, "+")), at, m.at, Done))
			at = m.at
		}
		unknown = nil
	}
	if len(unknown) == 0 {
		return out
	}
	outcome, end := Open, now
	if !s.end.IsZero() {
		outcome, end = Failed, s.end
	}
	if end.Before(at) {
		end = at
	}
	lasts := unknown[:1]
	if _, speaks := s.find(store.CodeBeat); speaks && unknown[0] == string(Boot) {
		lasts = unknown[:2] // it has booted, nothing says when
	}
	return append(out, newPhase(Name(strings.Join(lasts, "+")), at, end, outcome))
}

// milestone is the instant at which a phase ended; zero if it is not known, or has not come.
type milestone struct {
	ends Name
	at   time.Time
}

// milestones lists what the seat had to pass, in this order.
func (s spell) milestones(st store.RunStatus, start time.Time) []milestone {
	on, hand := s.first(store.CodeOnline), s.first(store.CodeHandedOver)
	if at := s.first(store.CodeLabelled); !at.IsZero() && (on.IsZero() || at.Before(on)) { // its listener was online before
		on = at
	}
	if !s.warm {
		return []milestone{
			{Accepted, asked(st, start, s.begun)}, {Launch, s.begun}, {Boot, s.first(store.CodeBooted)}, {Script, s.first(store.CodeScript)},
			{Registration, on}, {HandOver, hand},
		}
	}
	rest := []milestone{{Claimed, s.begun}, {Registration, on}, {HandOver, hand}}
	switch {
	case !s.pooled.After(start):
		return rest
	case s.freed.After(start):
		return append([]milestone{{Accepted, s.freed}, {Handshake, s.pooled}}, rest...)
	}
	return append([]milestone{{Handshake, s.pooled}}, rest...)
}

// asked returns when the last launch before begun was asked for.
func asked(st store.RunStatus, start, begun time.Time) time.Time {
	return last(entries(st.History, st.PendingAt), store.CodeAsked, start, begun)
}

// start is since when the request waited for this seat.
func (s spell) start(st store.RunStatus) time.Time {
	if st.ReadyAt.IsZero() || !s.begun.After(st.ReadyAt.Time) {
		return st.PendingAt.Time
	}
	if lost := last(entries(st.History, st.PendingAt), store.CodeLostSeat, st.PendingAt.Time, s.begun); !lost.IsZero() {
		return lost
	}
	return s.begun
}

// last returns the last instant of code from from to to; zero if there is none.
func last(all []store.Entry, code store.Code, from, to time.Time) time.Time {
	var at time.Time
	for _, e := range all {
		if e.Code == code && !e.At.Before(from) && !e.At.After(to) {
			at = e.At
		}
	}
	return at
}
