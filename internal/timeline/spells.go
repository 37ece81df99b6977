package timeline

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// spell is the part of an instance's life for which one request owned it.
type spell struct {
	run     store.RequestID // as far as the history holds it
	warm    bool            // claimed, not launched for it
	begun   time.Time       // zero: that was dropped from the history
	freed   time.Time       // when the run before gave it back, and when it was pooled; zero if not known
	pooled  time.Time
	end     time.Time // given back or ended; zero: not yet
	entries []store.Entry
}

// first returns when code was noted first; zero if it was not.
func (s spell) first(code store.Code) time.Time {
	if e, ok := s.find(code); ok {
		return e.At
	}
	return time.Time{}
}

func (s spell) find(code store.Code) (store.Entry, bool) {
	i := slices.IndexFunc(s.entries, func(e store.Entry) bool { return e.Code == code })
	if i < 0 {
		return store.Entry{}, false
	}
	return s.entries[i], true
}

// entries reads a history in the order of time: what is noted with a later write may stand behind that write's own entry.
func entries(h store.History, begun store.Time) []store.Entry {
	out := h.Entries(begun)
	slices.SortStableFunc(out, func(a, b store.Entry) int { return a.At.Compare(b.At) })
	return out
}

// Reported adds to the history of an instance what its agent's own records say that no write has carried there yet.
func Reported(in store.Instance, v store.Vitals) store.Instance {
	if in.State == statemachine.Terminated {
		return in
	}
	if e, says := v.Signal.Value.Entry(in, v.Signal.UpdatedAt.Time); says && !in.History.Noted(e.Code) {
		if in.Assignment == 1 && e.Code == store.CodeScript && !in.History.Noted(store.CodeBooted) {
			booted := e.At.Add(-v.Signal.Value.ScriptSeconds.Duration())
			in.History = in.History.With(in.CreatedAt, store.Entry{At: booted, Code: store.CodeBooted})
		}
		in.History = in.History.With(in.CreatedAt, e)
	}
	starting := in.State == statemachine.Created || in.State == statemachine.Claimed
	if at := v.Heartbeat.UpdatedAt; starting && !at.IsZero() {
		in.History = in.History.With(in.CreatedAt, store.Entry{At: at.Time, Code: store.CodeBeat})
	}
	return in
}

// spells reads the life of an instance, the earliest first.
func spells(in store.Instance) []spell {
	var out []spell
	var cur *spell
	var freed, pooled time.Time
	begin := func(s spell) {
		out = append(out, s)
		cur = &out[len(out)-1]
	}
	for _, e := range entries(in.History, in.CreatedAt) {
		switch e.Code {
		case store.CodeLaunched:
			begin(spell{run: store.RequestID(e.Detail), begun: e.At})
		case store.CodeClaimed:
			begin(spell{run: store.RequestID(e.Detail), warm: true, begun: e.At, freed: freed, pooled: pooled})
		case store.CodePooled:
			pooled = e.At
		default:
		}
		if cur == nil && owned(e.Code) { // its beginning was dropped
			begin(spell{warm: true})
		}
		if cur != nil {
			cur.entries = append(cur.entries, e)
		}
		switch e.Code {
		case store.CodeReleased, store.CodeUnclaimed:
			freed, pooled = e.At, time.Time{}
			if cur != nil {
				cur.end = e.At
			}
			cur = nil
		case store.CodeEnded:
			if cur != nil {
				cur.end = e.At
			}
			cur = nil
		default:
		}
	}
	if cur != nil && cur.run == "" {
		cur.run = in.RunID
		cur.warm = in.Assignment > 1
	}
	return out
}

// Returned says how long the last return of an instance to the pool took, from its release or the end of its last job: the whole
// handshake, and the part of it until its agent reported it clean. 0: not known.
func Returned(in store.Instance) (handshake, scrub time.Duration) {
	var from, clean time.Time
	for _, e := range entries(in.History, in.CreatedAt) {
		switch e.Code {
		case store.CodeReleased, store.CodeUnclaimed:
			from, clean = e.At, time.Time{}
		case store.CodeJobEnded:
			if !from.IsZero() {
				from = e.At
			}
		case store.CodeScrubbed:
			clean = e.At
		case store.CodePooled:
			if from.IsZero() {
				continue
			}
			handshake, scrub = e.At.Sub(from), max(0, clean.Sub(from))
			from = time.Time{}
		default:
		}
	}
	return handshake, scrub
}

// owned reports whether an entry of this code is one of an instance that a request owns.
func owned(code store.Code) bool {
	switch code {
	case store.CodeBooted, store.CodeScript, store.CodeMinted, store.CodeLabelled, store.CodeOnline, store.CodeHandedOver, store.CodeJobBegan:
		return true
	default:
		return false
	}
}

// spellFor returns the last of the instance's spells for the request that is of its present attempt: one that began with it,
// or one that it took over from before it was taken up anew.
func spellFor(in store.Instance, st store.RunStatus) (spell, bool) {
	for _, s := range slices.Backward(spells(in)) {
		begun := s.begun
		if begun.IsZero() {
			begun = s.entries[0].At
		}
		takenOver := s.end.IsZero() && in.Attempt == st.Attempt
		if store.Names(string(s.run), st.ID) && (takenOver || !begun.Before(st.PendingAt.Time)) {
			return s, true
		}
	}
	return spell{}, false
}
