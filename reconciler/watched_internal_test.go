package reconciler

import (
	"testing"
	"time"
)

// Looks become rarer while they are put off, and come back to what is configured soon after; an outage, or a denial, makes none rarer.
func TestPause_FollowsWhatIsPutOff(t *testing.T) {
	const poll = 15 * time.Second
	now := time.Now()
	look := func(w *watchedRepository, after time.Duration, held bool) time.Duration {
		now = now.Add(after)
		w.turns.held = held
		w.listed(nil, now)
		return w.pause(poll, now)
	}
	near := func(what string, got, want time.Duration) {
		t.Helper()
		if got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: pause of %s, want %s", what, got, want)
		}
	}
	w := (&watchedRepositories{}).get("octo/repo")
	near("first", look(w, 0, false), poll)
	near("after an outage", look(w, 10*time.Minute, false), poll)
	near("put off", look(w, 2*time.Minute, true), 2*time.Minute)
	near("not put off", look(w, 2*time.Minute, false), 90*time.Second)
	near("put off for an hour", look(w, time.Hour, true), mostPolls*poll)
	for range 12 {
		look(w, poll, false)
	}
	near("long after", look(w, poll, false), poll)
}
