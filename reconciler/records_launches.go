package reconciler

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// launchRecords are the launches, and which requests each was made for.
type launchRecords struct {
	mu         sync.RWMutex
	byToken    map[string]store.Launch
	opening    map[string]store.Launch // those without an outcome
	launchedBy map[store.RequestID][]launchedSeat
	judged     map[string]bool // the launches whose instances all ended at their start
}

// launchedSeat is where a launch names a request.
type launchedSeat struct {
	token string
	seat  int
}

func newLaunchRecords() *launchRecords {
	return &launchRecords{byToken: map[string]store.Launch{}, opening: map[string]store.Launch{}, launchedBy: map[store.RequestID][]launchedSeat{}, judged: map[string]bool{}}
}

// applyLaunch takes a launch with a higher version.
func (v *launchRecords) applyLaunch(l store.Launch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	have, known := v.byToken[l.Token]
	if known && l.Version <= have.Version {
		return
	}
	v.byToken[l.Token] = l
	if l.Done {
		delete(v.opening, l.Token)
	} else {
		v.opening[l.Token] = l
	}
	if known {
		return
	}
	for i, s := range l.Seats {
		v.launchedBy[s.RequestID] = append(v.launchedBy[s.RequestID], launchedSeat{l.Token, i})
	}
}

// judge marks a launch as judged, and reports whether this call was the first.
func (v *launchRecords) judge(token string) (first bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	first = !v.judged[token]
	v.judged[token] = true
	return first
}

func (v *launchRecords) launch(token string) (store.Launch, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	l, ok := v.byToken[token]
	return l, ok
}

// openLaunches lists the launches without an outcome.
func (v *launchRecords) openLaunches() []store.Launch {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.SortedFunc(maps.Values(v.opening), func(a, b store.Launch) int { return cmp.Compare(a.Token, b.Token) })
}

// seatsFor yields the launches made for one attempt, oldest first, with the seats of the attempt. Attempt 0 stands for all attempts. The
// lock must be held.
func (v *launchRecords) seatsFor(id store.RequestID, attempt int) iter.Seq2[store.Launch, store.LaunchSeat] {
	return func(yield func(store.Launch, store.LaunchSeat) bool) {
		for _, at := range v.launchedBy[id] {
			l := v.byToken[at.token]
			if at.seat >= len(l.Seats) || l.Seats[at.seat].RequestID != id {
				continue // its seats never change; one that was written over by hand counts for no request
			}
			if s := l.Seats[at.seat]; (attempt == 0 || s.Attempt == attempt) && !yield(l, s) {
				return
			}
		}
	}
}

// openFor returns the newest launch without an outcome that was made for one attempt. Attempt 0 stands for all attempts.
func (v *launchRecords) openFor(id store.RequestID, attempt int) (newest store.Launch, open bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for l := range v.seatsFor(id, attempt) {
		if !l.Done {
			newest, open = l, true
		}
	}
	return newest, open
}

// launchedFor returns how many instances each open launch was asked for by one attempt, and how many came of the others. Attempt 0 stands
// for all attempts.
func (v *launchRecords) launchedFor(id store.RequestID, attempt int) (open map[string]int, launched int) {
	open = map[string]int{}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for l, s := range v.seatsFor(id, attempt) {
		if !l.Done {
			open[l.Token] += s.Count
		}
		launched += len(s.Instances)
	}
	return open, launched
}

// forget drops the launches that expired.
func (v *launchRecords) forget(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for token, l := range v.byToken {
		if !past(l.ExpiresAt, now) {
			continue
		}
		delete(v.byToken, token)
		delete(v.judged, token)
		delete(v.opening, token)
		for _, s := range l.Seats {
			v.launchedBy[s.RequestID] = slices.DeleteFunc(v.launchedBy[s.RequestID], func(at launchedSeat) bool { return at.token == token })
			if len(v.launchedBy[s.RequestID]) == 0 {
				delete(v.launchedBy, s.RequestID)
			}
		}
	}
}
