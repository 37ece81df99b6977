package reconciler

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// herd returns a breaker that knows of n living instances, as many ended ones, and the first of them
// silent since given instants.
func herd(n int, staleSince ...time.Time) *breaker {
	t := &breaker{tenure: &tenure{log: slog.New(slog.DiscardHandler)}, cache: &cache{records: newRecords()}}
	for i := range n {
		t.cache.instances.apply(inState(fmt.Sprint("i-", i), 1, statemachine.Idle, ""))
		ended := inState(fmt.Sprint("ended-", i), 1, statemachine.Terminated, "")
		t.cache.instances.apply(ended)
		t.cache.instances.with(ended.ID, func(in *instance) { in.vitals.staleAt = dawn }) // they are silent, of course
	}
	for i, at := range staleSince {
		t.cache.instances.with(inState(fmt.Sprint("i-", i), 1, statemachine.Idle, "").ID, func(in *instance) { in.vitals.staleAt = at })
	}
	return t
}

// times repeats an instant.
func times(n int, at time.Time) []time.Time {
	out := make([]time.Time, n)
	for i := range out {
		out[i] = at
	}
	return out
}

// H07: more than three, and more than a third of all, silent within a minute is our outage.
func TestBreaker_MoreThanThreeAndOverAThird(t *testing.T) {
	for _, tc := range []struct {
		live, silent int
		want         bool
	}{
		{0, 0, false}, {1, 1, false}, {3, 3, false}, {4, 4, true}, {4, 3, false},
		{11, 4, true}, {12, 4, false}, {12, 5, true}, {300, 100, false}, {300, 101, true},
	} {
		breaker := herd(tc.live, times(tc.silent, dawn)...)
		if breaker.update(dawn); breaker.isOpen() != tc.want {
			t.Errorf("%d of %d silent: open %v, want %v", tc.silent, tc.live, breaker.isOpen(), tc.want)
		}
	}
}

// Only what went silent within the last minute puts it on: a few that died one after the other are no
// outage.
func TestBreaker_WithinAMinute(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		want  bool
	}{"Exactly": {time.Minute, true}, "OneTickLater": {time.Minute + 1, false}} {
		breaker := herd(6, dawn, dawn.Add(time.Minute), dawn.Add(time.Minute), dawn.Add(time.Minute))
		if breaker.update(dawn.Add(tc.after)); breaker.isOpen() != tc.want {
			t.Errorf("%s: open %v, want %v", name, breaker.isOpen(), tc.want)
		}
	}
}

// Once open it stays open, however long the silence lasts, until most report again.
func TestBreaker_StaysOpenUntilMostReport(t *testing.T) {
	breaker := herd(12, times(12, dawn)...)
	hour := dawn.Add(time.Hour)
	for _, step := range []struct {
		reporting int // of the twelve
		now       time.Time
		want      bool
	}{{0, dawn, true}, {0, hour, true}, {7, hour, true}, {8, hour, false}, {4, hour, false}} {
		for i := range 12 {
			at := dawn
			if i < step.reporting {
				at = time.Time{}
			}
			breaker.cache.instances.with(inState(fmt.Sprint("i-", i), 1, statemachine.Idle, "").ID, func(in *instance) { in.vitals.staleAt = at })
		}
		since := store.Time{}
		if step.want {
			since = store.At(dawn)
		}
		if breaker.update(step.now); breaker.isOpen() != step.want || breaker.opened.get() != since {
			t.Errorf("%d of 12 reporting after %s: open %v since %q, want %v since %q", step.reporting, step.now.Sub(dawn), breaker.isOpen(), breaker.opened.get(), step.want, since)
		}
	}
}
