package timeline

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Timeline is what became of one request or one instance, as `remuda explain -o json` prints it. It holds no secret.
type Timeline struct {
	Kind       Kind             `json:"kind"`
	ID         string           `json:"id"`
	Attempt    int              `json:"attempt"` // of a request; else 0
	State      string           `json:"state"`   // the phase of a request, the state of an instance; "": a request that nobody has taken up
	Begun      store.Time       `json:"begun"`
	Conclusion string           `json:"conclusion"` // one or two sentences for people
	Decisive   store.InstanceID `json:"decisive"`   // the instance that a request waited for longest; "": none
	Starts     []Start          `json:"starts"`
	Events     []Event          `json:"events"`
}

// Kind says what a timeline is about.
type Kind string

// The kinds.
const (
	KindRequest  Kind = "request"
	KindInstance Kind = "instance"
)

// Start is how one instance came to one request.
type Start struct {
	InstanceID store.InstanceID `json:"instanceId"`
	RequestID  store.RequestID  `json:"requestId"` // its first 60 characters
	Warm       bool             `json:"warm"`
	Phases     []Phase          `json:"phases"`
	Longest    Name             `json:"longest"`    // the longest of the phases; "": none is known
	HandedOver store.Time       `json:"handedOver"` // "": not, or not known
	Ended      store.Time       `json:"ended"`      // given back or lost; "": not yet, or not known
	Lost       string           `json:"lost"`       // why the machine ended as this request's; "": it did not
}

// Event is one entry of a history.
type Event struct {
	At         store.Time       `json:"at"`
	Seconds    float64          `json:"seconds"`    // since the timeline's beginning; below 0: before it
	InstanceID store.InstanceID `json:"instanceId"` // "": it happened to the request
	Code       store.Code       `json:"code"`
	Detail     string           `json:"detail"`
	Text       string           `json:"text"` // code and detail in words
}

// newStart reads the phases of one spell.
func newStart(s spell, st store.RunStatus, in store.Instance, now time.Time) Start {
	out := Start{
		InstanceID: in.ID, RequestID: s.run, Warm: s.warm, Phases: s.phases(st, now),
		HandedOver: store.At(s.first(store.CodeHandedOver)), Ended: store.At(s.end),
	}
	if end, ended := s.find(store.CodeEnded); ended {
		out.Lost = end.Detail
	}
	out.Longest = out.Busiest().Name
	return out
}

// Busiest returns the longest of the phases; the zero Phase where none is known.
func (s Start) Busiest() Phase {
	p, _ := longest(s.Phases)
	return p
}

// longest returns the longest phase, the first of several.
func longest(phases []Phase) (Phase, bool) {
	if len(phases) == 0 {
		return Phase{}, false
	}
	return slices.MaxFunc(phases, func(a, b Phase) int {
		if a.Duration() > b.Duration() {
			return 1
		}
		return -1
	}), true
}

// Request tells the newest attempt of a request. instances are those that may have served it; a machine whose record is gone
// is told as far as the request's own history does. vacancy says since when no controller leads; "" if one does, or nothing is known of that.
func Request(id store.RequestID, r store.RunRecords, instances []store.Instance, vacancy string, now time.Time) Timeline {
	t := Timeline{Kind: KindRequest, ID: string(id), Starts: []Start{}, Events: []Event{}}
	if r.Request != nil {
		t.Attempt, t.Begun = r.Request.Attempt, r.Request.CreatedAt
	}
	st := r.Status
	if st == nil || st.Attempt < t.Attempt {
		t.Conclusion = unseen(t, st, vacancy, now)
		return t
	}
	t.Attempt, t.State, t.Begun = st.Attempt, string(st.Phase), st.PendingAt
	slices.SortFunc(instances, byID)
	for _, in := range instances {
		if s, ok := spellFor(in, *st); ok {
			t.Starts = append(t.Starts, newStart(s, *st, in, now))
			t.add(in.ID, s.entries)
		}
	}
	if !st.ReadyAt.IsZero() {
		t.Decisive, _ = ReadyLast(*st, instances, now)
	}
	own := entries(st.History, st.PendingAt)
	for _, e := range own {
		if e.Code == store.CodePhases {
			t.addSlow(*st, e)
		}
	}
	t.add("", own)
	t.order()
	t.Conclusion = t.concludeRequest(*st, vacancy, now)
	if r.Request != nil && r.Request.Released() && st.Phase != statemachine.PhaseReleased {
		t.Conclusion += " It is being given back."
	}
	return t
}

// addSlow takes a start from the request's own history, which alone has it once the machine's record is gone.
func (t *Timeline) addSlow(st store.RunStatus, e store.Entry) {
	id, phases := readSlow(e)
	if st.ReadyAt.IsZero() || len(phases) == 0 || e.At.After(st.ReadyAt.Time) {
		return
	}
	t.Decisive = id
	if slices.ContainsFunc(t.Starts, func(s Start) bool { return s.InstanceID == id }) {
		return
	}
	s := Start{InstanceID: id, RequestID: st.ID, Phases: phases}
	s.Warm = slices.ContainsFunc(phases, func(p Phase) bool { return p.Name == Claimed })
	s.Longest = s.Busiest().Name
	t.Starts = append(t.Starts, s)
}

// Instance tells the life of an instance, with one start for each request that it served.
func Instance(in store.Instance, now time.Time) Timeline {
	t := Timeline{
		Kind: KindInstance, ID: string(in.ID), State: string(in.State), Begun: in.CreatedAt, Decisive: in.ID,
		Starts: []Start{}, Events: []Event{},
	}
	all := spells(in)
	for _, s := range all {
		since := store.At(s.begun)
		if s.begun.IsZero() {
			since = store.At(s.entries[0].At)
		}
		// Of the request only the instants are known that the instance has: what came before is none of its life.
		start := newStart(s, store.RunStatus{ID: s.run, PendingAt: since}, in, now)
		start.Phases = slices.DeleteFunc(start.Phases, func(p Phase) bool { return p.From.Equal(p.To) })
		t.Starts = append(t.Starts, start)
	}
	t.add(in.ID, entries(in.History, in.CreatedAt))
	t.order()
	t.Conclusion = concludeInstance(in, all, now)
	return t
}

// add takes the entries of one history over. The phases of a start are no event.
func (t *Timeline) add(id store.InstanceID, all []store.Entry) {
	for _, e := range all {
		if e.Code != store.CodePhases {
			t.Events = append(t.Events, Event{
				At: store.At(e.At), Seconds: e.At.Sub(t.Begun.Time).Seconds(), InstanceID: id, Code: e.Code, Detail: e.Detail, Text: textOf(e),
			})
		}
	}
}

func (t *Timeline) order() {
	slices.SortStableFunc(t.Events, func(a, b Event) int { return a.At.Time.Compare(b.At.Time) })
}

func byID(a, b store.Instance) int {
	if a.ID < b.ID {
		return -1
	}
	return 1
}
