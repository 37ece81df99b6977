package bench

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Journal notes when the controller wrote what a request waits for, so that nobody has to poll the
// store while time is measured.
type Journal struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every note
	phases  map[store.RequestID]map[statemachine.Phase]time.Time
	owner   map[string]store.RequestID    // last run of each instance, by partition
	claimed map[store.RequestID]time.Time // first claim
	back    map[store.RequestID][]time.Time
	onPhase func(store.RequestID, statemachine.Phase)

	since  map[store.RequestID]store.Time // when each request joined the line
	idle   map[string]time.Time           // when each pooled instance was, by partition
	order  []store.RequestID              // of first claims
	waited Times                          // of pooled instances, until they were claimed
}

func newJournal() *Journal {
	return &Journal{
		changed: make(chan struct{}), phases: map[store.RequestID]map[statemachine.Phase]time.Time{},
		owner: map[string]store.RequestID{}, claimed: map[store.RequestID]time.Time{},
		back:  map[store.RequestID][]time.Time{},
		since: map[store.RequestID]store.Time{}, idle: map[string]time.Time{},
	}
}

// Watch returns table with its writes noted.
func (j *Journal) Watch(table store.Table) store.Table { return watched{table, j} }

type watched struct {
	store.Table
	j *Journal
}

func (w watched) Put(ctx context.Context, item store.Item, expect int64) error {
	err := w.Table.Put(ctx, item, expect)
	if err != nil || (item.Key.Sort != store.KindInstance && item.Key.Sort != store.KindRunStatus) {
		return err
	}
	return w.j.note(item, time.Now())
}

// note takes what was written at now.
func (j *Journal) note(item store.Item, now time.Time) error {
	var rec struct {
		Phase    statemachine.Phase `json:"phase"`
		State    statemachine.State `json:"state"`
		RunID    store.RequestID    `json:"runId"`
		PooledAt store.Time         `json:"pooledAt"`

		PendingAt store.Time `json:"pendingAt"`
	}
	if err := json.Unmarshal(item.Attributes, &rec); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch id, key := rec.RunID, item.Key.Partition; {
	case item.Key.Sort == store.KindRunStatus:
		id, _ := item.Key.RequestID()
		if j.phases[id] == nil {
			j.phases[id] = map[statemachine.Phase]time.Time{}
		}
		if j.phases[id][rec.Phase].IsZero() {
			j.phases[id][rec.Phase] = now
			j.since[id] = rec.PendingAt
			if j.onPhase != nil {
				j.onPhase(id, rec.Phase)
			}
		}
	case id != "":
		if rec.State == statemachine.Claimed && j.claimed[id].IsZero() {
			j.claimed[id] = now
			j.order = append(j.order, id)
			if at, pooled := j.idle[key]; pooled {
				j.waited = append(j.waited, now.Sub(at))
			}
		}
		delete(j.idle, key)
		j.owner[key] = id
	case rec.State == statemachine.Idle && !rec.PooledAt.IsZero() && j.idle[key].IsZero():
		j.idle[key] = now
		j.back[j.owner[key]] = append(j.back[j.owner[key]], now)
	}
	close(j.changed)
	j.changed = make(chan struct{})
	return nil
}

// until waits until find returns true, and returns the instant it found. find is called with the
// Journal locked.
func (j *Journal) until(ctx context.Context, find func() (time.Time, bool)) (time.Time, error) {
	for {
		j.mu.Lock()
		at, ok := find()
		changed := j.changed
		j.mu.Unlock()
		if ok {
			return at, nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		case <-changed:
		}
	}
}

// Phase waits for a phase of a request and returns when it was first written.
func (j *Journal) Phase(ctx context.Context, id store.RequestID, p statemachine.Phase) (time.Time, error) {
	return j.until(ctx, func() (time.Time, bool) {
		at := j.phases[id][p]
		return at, !at.IsZero()
	})
}

// Claimed waits for the first claim of a request.
func (j *Journal) Claimed(ctx context.Context, id store.RequestID) (time.Time, error) {
	return j.until(ctx, func() (time.Time, bool) {
		at := j.claimed[id]
		return at, !at.IsZero()
	})
}

// Back waits until n instances of a request are pooled again, and returns when the last one was.
func (j *Journal) Back(ctx context.Context, id store.RequestID, n int) (time.Time, error) {
	return j.until(ctx, func() (time.Time, bool) {
		if len(j.back[id]) < n {
			return time.Time{}, false
		}
		return j.back[id][n-1], true
	})
}

// Pooled waits until at least n instances are pooled.
func (j *Journal) Pooled(ctx context.Context, n int) error {
	_, err := j.until(ctx, func() (time.Time, bool) { return time.Time{}, len(j.idle) >= n })
	return err
}

// OnPhase lets f know of every phase that a request enters. f is called with the Journal locked.
func (j *Journal) OnPhase(f func(store.RequestID, statemachine.Phase)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onPhase = f
}

// Claims returns how long pooled instances waited for the first claims of requests, and how many younger requests were
// served before the one that was overtaken most.
func (j *Journal) Claims() (waited Times, overtaken int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, id := range j.order {
		n := 0
		for _, earlier := range j.order[:i] {
			if j.since[id].Time.Before(j.since[earlier].Time) {
				n++
			}
		}
		overtaken = max(overtaken, n)
	}
	return slices.Clone(j.waited), overtaken
}
