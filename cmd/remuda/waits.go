package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// waiting is what a request waits for, in the controller's words, and for how long this client knows it to.
type waiting struct {
	reason   string // one word; "" if none is known
	sentence string // for people, without a duration
	since    store.Time
	begun    time.Time // on this client's clock; zero if that is not known
	until    time.Time // of the last look
}

// look takes in a status that was read at now. Only a request that is Pending waits; of one that is over it keeps what it
// waited for last.
//
// How long it has been so is said by two instants of the controller's clock, and goes on by this client's own: the two
// clocks never meet, however far apart they are. Who comes late to a status that is not written any more counts less
// than it was.
func (w *waiting) look(st store.RunStatus, now time.Time) {
	if st.Phase != statemachine.Pending {
		return
	}
	next := waiting{reason: st.Reason, sentence: cmp.Or(st.Message, st.Reason), since: st.ReasonSince, until: now}
	if !st.ReasonSince.IsZero() {
		next.begun = now.Add(-max(0, st.ChangedAt.Sub(st.ReasonSince.Time)))
		if st.Reason == w.reason && st.ReasonSince.Equal(w.since) && w.begun.Before(next.begun) {
			next.begun = w.begun
		}
	}
	*w = next
}

// lasted says for how long; "" if that is not known.
func (w waiting) lasted() string {
	if w.begun.IsZero() {
		return ""
	}
	return lastedText(w.until.Sub(w.begun))
}

// String is the sentence with its duration.
func (w waiting) String() string { return w.sentence + w.lasted() }

// behind is what a request that failed had waited for, unless the failure says so.
func (w waiting) behind(st store.RunStatus) string {
	if w.sentence == "" || w.reason == st.Reason || strings.Contains(st.Message, w.sentence) {
		return ""
	}
	return fmt.Sprintf("; waited last: %s", w)
}

// lastedText ends a sentence with how long what it says has lasted, which is never less than nothing: the instant may be of
// another machine's clock.
func lastedText(d time.Duration) string { return " for " + short(max(0, d)) }
