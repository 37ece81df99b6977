package reconciler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// applyRun takes the records of one request as they were read at now.
func (v *view) applyRun(id store.RequestID, rec store.RunRecords, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.run(id, now)
	r.expire(now)
	if rec.Request != nil && (r.request == nil || rec.Request.Version > r.request.Version || rec.Request.Attempt > r.request.Attempt) {
		r.request = rec.Request
	}
	if rec.Status != nil && (r.status == nil || rec.Status.Version > r.status.Version) {
		r.status = rec.Status
	}
	v.notePhase(r)
}

// notePhase keeps the list of requests that are Pending. v.mu must be held.
func (v *view) notePhase(r *run) {
	if r.status != nil && r.status.Phase == statemachine.Pending {
		v.pending[r.id] = r
		return
	}
	delete(v.pending, r.id)
}

// unheardSince lists the requests that are Pending and were last read at or before an instant.
func (v *view) unheardSince(at time.Time) []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []store.RequestID
	for id, r := range v.pending {
		if !r.readAt.After(at) {
			out = append(out, id)
		}
	}
	slices.Sort(out) // a map has no order; with one, the same events have the same consequences
	return out
}

// expire drops records whose time is over: the table counts them as absent, and a new one begins with
// version 1 again.
func (r *run) expire(now time.Time) {
	if r.request != nil && past(r.request.ExpiresAt, now) {
		r.request = nil
	}
	if r.status != nil && past(r.status.ExpiresAt, now) {
		r.status = nil
	}
}

// past reports whether an expiry is set and reached.
func past(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// heardRun notes a successful read of all records of a request.
func (v *view) heardRun(id store.RequestID, client *store.RunClient, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.run(id, now)
	r.readAt = now
	r.reads++
	if client != nil && !client.SeenAt.Equal(r.client) {
		r.client, r.heard, r.reads = client.SeenAt, now, 0
	}
}

// run returns the entry of a request, new if need be. v.mu must be held.
func (v *view) run(id store.RequestID, now time.Time) *run {
	r, ok := v.runs[id]
	if !ok {
		r = &run{id: id, heard: now}
		v.runs[id] = r
	}
	return r
}

// unread marks a request as changed.
func (v *view) unread(id store.RequestID, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run(id, now).unread = true
}

// maxRuns bounds the requests in memory, some 50 MB. Rings for others that nobody has read yet are dropped then,
// and the next scan finds what is behind them.
const maxRuns = 100_000

// rung marks a request as changed and reports whether to look at it.
func (v *view) rung(id store.RequestID, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.runs[id]; !known && len(v.runs) >= maxRuns {
		return false
	}
	v.run(id, now).unread = true
	return true
}

// forgetRun drops a request of which nothing is stored, unless it was rung meanwhile.
func (v *view) forgetRun(id store.RequestID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.runs[id]; ok && r.request == nil && r.status == nil && !r.unread {
		delete(v.runs, id)
	}
}

// takeRun returns a copy of one request and clears its mark.
func (v *view) takeRun(id store.RequestID) (run, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, ok := v.runs[id]
	if !ok {
		return run{}, false
	}
	out := *r
	r.unread = false
	return out, true
}

// getRun returns a copy of one request.
func (v *view) getRun(id store.RequestID) (run, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.runs[id]
	if !ok {
		return run{}, false
	}
	return *r, true
}

// withRun changes what is known of a request.
func (v *view) withRun(id store.RequestID, change func(*run)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.runs[id]; ok {
		change(r)
	}
}

// alive reports whether a request's attempt may still use instances.
func (v *view) alive(id store.RequestID, attempt int) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, ok := v.runs[id]
	return ok && r.alive(attempt)
}

func (r *run) alive(attempt int) bool {
	if r.request == nil || r.status == nil || r.request.Attempt != attempt || r.status.Attempt != attempt || r.request.Released() {
		return false
	}
	return r.status.Phase == statemachine.Pending || r.status.Phase == statemachine.Ready
}

// unfinished lists the requests that still need looks.
func (v *view) unfinished() []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []store.RequestID
	for id, r := range v.runs {
		if r.status == nil || r.status.ExpiresAt.IsZero() || r.request != nil && r.asksMore() {
			out = append(out, id)
		}
	}
	for id := range v.held {
		if v.runs[id] == nil {
			out = append(out, id) // held by a run nobody wrote: it must be given back
		}
	}
	slices.Sort(out) // a map has no order; with one, the same events have the same consequences
	return out
}

// asksMore reports whether the client wants something that the status does not say yet: another attempt, or that
// one which failed, and was left to expire, is given back.
func (r *run) asksMore() bool {
	return r.request.Attempt > r.status.Attempt || r.request.Released() && r.status.Phase != statemachine.ReleasedPhase
}

// applyLaunch takes a launch with a higher version.
func (v *view) applyLaunch(l store.Launch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	have, known := v.launches[l.Token]
	if known && l.Version <= have.Version {
		return
	}
	v.launches[l.Token] = l
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

func (v *view) launch(token string) (store.Launch, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	l, ok := v.launches[token]
	return l, ok
}

// openLaunches lists the launches without an outcome.
func (v *view) openLaunches() []store.Launch {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.SortedFunc(maps.Values(v.opening), func(a, b store.Launch) int { return cmp.Compare(a.Token, b.Token) })
}

// launchedFor sums what was and is being launched for one attempt; open counts attempts of any
// number if attempt is 0.
func (v *view) launchedFor(id store.RequestID, attempt int) (open, launched int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, at := range v.launchedBy[id] {
		l := v.launches[at.token]
		if at.seat >= len(l.Seats) || l.Seats[at.seat].RequestID != id {
			continue // its seats never change; one that was written over by hand counts for nobody
		}
		s := l.Seats[at.seat]
		if attempt != 0 && s.Attempt != attempt {
			continue
		}
		if !l.Done {
			open += s.Count
		}
		launched += len(s.Instances)
	}
	return open, launched
}

// dismissedBy reports whether an order in force covers in.
func (v *view) dismissedBy(in store.Instance, now time.Time) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.dismissed(in, now)
}

// dismissed is dismissedBy with v.mu held.
func (v *view) dismissed(in store.Instance, now time.Time) bool {
	for _, d := range v.drains {
		if d.Matches(in) && now.Before(d.ExpiresAt) {
			return true
		}
	}
	return false
}

// applyDrain takes a drain order.
func (v *view) applyDrain(d store.DrainOrder) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drains[d.ID] = d
}
