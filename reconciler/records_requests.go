package reconciler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// requestRecords are the requests, each with its status and what was observed of its client.
type requestRecords struct {
	mu      sync.RWMutex
	byID    map[store.RequestID]*run
	pending map[store.RequestID]*run // those whose status says so

	repositories map[string]*watchedRuns // by name, in lower case
	ofRuns       ofRuns
	replaced     []store.PastRequest // attempts without a status of their own any more, for the demand of their day
}

// watchedRuns are the requests for runs of one repository.
type watchedRuns struct {
	watch    store.Watch // state, and detail if it is denied
	requests map[store.RequestID]*run
}

func newRequestRecords() *requestRecords {
	return &requestRecords{
		byID: map[store.RequestID]*run{}, pending: map[store.RequestID]*run{}, repositories: map[string]*watchedRuns{}, ofRuns: ofRuns{},
	}
}

// applyRun takes the records of one request as they were read at now.
func (v *requestRecords) applyRun(id store.RequestID, rec store.RunRecords, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.run(id, now)
	r.expire(now)
	if rec.Request != nil && (r.request == nil || rec.Request.Version > r.request.Version || rec.Request.Attempt > r.request.Attempt) {
		if r.request == nil && !v.ofRuns.admit(r, v) {
			r.bad = &store.BadRequest{Attempt: rec.Request.Attempt, Err: errTooMany}
		} else {
			v.noteRun(r, rec.Request)
			r.request, r.bad = rec.Request, nil
		}
	}
	if rec.Status != nil && (r.status == nil || rec.Status.Version > r.status.Version) {
		r.status = rec.Status
	}
	if r.refused() && r.accepted() {
		r.bad, r.changed = nil, true // an earlier controller accepted the request: the next read admits it
	}
	v.notePhase(r)
}

// maxOfRun bounds the requests of one run in memory. A workflow can write any number of requests.
const maxOfRun = 100

var errTooMany = fmt.Errorf("a run must have at most %d requests at a time; release one of them first", maxOfRun)

// ofRuns are the requests of each run that are in memory. The name of a run is the beginning of its requests' ids.
type ofRuns map[string][]*run

// admit reports whether the request of r is kept in memory. A request that an earlier controller accepted always is. If the run has too
// many requests, the requests that are over make room. v.mu must be held.
func (m ofRuns) admit(r *run, v *requestRecords) bool {
	name, _, _ := strings.Cut(string(r.id), "-")
	if _, err := strconv.ParseInt(name, 10, 64); err != nil {
		return true // other ids are not those of runs at GitHub
	}
	gone := func(o *run) bool { return o == r || o.request == nil || v.byID[o.id] != o }
	kept := slices.DeleteFunc(m[name], gone)
	for _, unrecorded := range []bool{false, true} { // first those that the demand of their day has
		if len(kept) < maxOfRun {
			break
		}
		for _, o := range kept {
			if o.status != nil && !o.status.ExpiresAt.IsZero() && !o.asksMore() && (unrecorded || o.demanded >= o.status.Attempt) {
				v.forgetWatch(o.id, o.request)
				o.request = nil
			}
		}
		kept = slices.DeleteFunc(kept, gone)
	}
	admitted := r.bad == nil && r.accepted() || len(kept) < maxOfRun
	if admitted {
		kept = append(kept, r)
	}
	m[name] = kept
	return admitted
}

// notePhase keeps the list of requests that are Pending. v.mu must be held.
func (v *requestRecords) notePhase(r *run) {
	if r.status != nil && r.status.Phase == statemachine.Pending {
		v.pending[r.id] = r
		return
	}
	delete(v.pending, r.id)
}

// unreadSince lists the requests that are Pending and were last read at or before an instant.
func (v *requestRecords) unreadSince(at time.Time) []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []store.RequestID
	for id, r := range v.pending {
		if !r.client.readAt.After(at) {
			out = append(out, id)
		}
	}
	slices.Sort(out) // a map has no order; with one, the same events have the same consequences
	return out
}

// pendingIDs lists the requests that are Pending, ordered by id.
func (v *requestRecords) pendingIDs() []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Sorted(maps.Keys(v.pending))
}

// noteClient notes a successful read of all records of a request.
func (v *requestRecords) noteClient(id store.RequestID, client *store.RunClient, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.run(id, now)
	r.client.readAt = now
	r.client.reads++
	if client != nil && !client.SeenAt.Equal(r.client.seen) {
		r.client.seen, r.client.changed, r.client.reads = client.SeenAt, now, 0
	}
}

// run returns the entry of a request, new if need be. v.mu must be held.
func (v *requestRecords) run(id store.RequestID, now time.Time) *run {
	r, ok := v.byID[id]
	if !ok {
		r = &run{id: id, client: client{changed: now}}
		v.byID[id] = r
	}
	return r
}

// changed marks a request as changed.
func (v *requestRecords) changed(id store.RequestID, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run(id, now).changed = true
}

// maxRuns bounds the requests in memory, some 50 MB. Notifications of others that were not read yet are dropped then,
// and the next scan finds what is behind them.
const maxRuns = 100_000

// markChanged marks a request as changed and reports whether to look at it.
func (v *requestRecords) markChanged(id store.RequestID, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.byID[id]; !known && len(v.byID) >= maxRuns {
		return false
	}
	v.run(id, now).changed = true
	return true
}

// forgetRun drops a request of which nothing is stored, unless a notification came meanwhile.
func (v *requestRecords) forgetRun(id store.RequestID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.byID[id]; ok && r.request == nil && r.status == nil && !r.changed {
		delete(v.byID, id)
	}
}

// takeRun returns a copy of one request and clears its mark.
func (v *requestRecords) takeRun(id store.RequestID) (run, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, ok := v.byID[id]
	if !ok {
		return run{}, false
	}
	out := *r
	r.changed = false
	return out, true
}

// getRun returns a copy of one request.
func (v *requestRecords) getRun(id store.RequestID) (run, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.byID[id]
	if !ok {
		return run{}, false
	}
	return *r, true
}

// tellsOf reports whether the status of an instance's request says what keeps its runner from GitHub.
func (v *requestRecords) tellsOf(s snapshot) bool {
	r, ok := v.getRun(s.RunID)
	return ok && r.status != nil && r.status.Phase == statemachine.Ready && aboutSeat(r.status.Message, s.ID)
}

// withRun changes what is known of a request.
func (v *requestRecords) withRun(id store.RequestID, change func(*run)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.byID[id]; ok {
		change(r)
	}
}

// alive reports whether a request's attempt may still use instances.
func (v *requestRecords) alive(id store.RequestID, attempt int) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.byID[id]
	return ok && r.alive(attempt)
}

// unfinished lists those that still need looks, in no order.
func (v *requestRecords) unfinished() []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []store.RequestID
	for id, r := range v.byID {
		if r.status == nil || r.status.ExpiresAt.IsZero() || r.request != nil && r.asksMore() {
			out = append(out, id)
		}
	}
	return out
}

// forget drops the records that expired.
func (v *requestRecords) forget(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.ofRuns, func(_ string, of []*run) bool {
		return !slices.ContainsFunc(of, func(r *run) bool { return r.request != nil && v.byID[r.id] == r })
	})
	for id, r := range v.byID {
		was := r.request
		if r.expire(now); r.request == nil && was != nil {
			v.forgetWatch(id, was)
		}
		if r.status == nil && r.request == nil && !r.changed {
			delete(v.byID, id)
		}
		v.notePhase(r)
	}
}
