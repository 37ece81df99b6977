package reconciler

import (
	"cmp"
	"slices"

	"github.com/remuda-run/remuda/store"
)

// noteRun keeps the list of requests by repository as a request's record changes. v.mu must be held.
func (v *requestRecords) noteRun(r *run, now *store.RunRequest) {
	if r.request != nil {
		v.forgetWatch(r.id, r.request)
	}
	named, ok := now.Workflow()
	if !ok {
		return
	}
	of := v.repositories[named.Repository]
	if of == nil {
		of = &watchedRuns{requests: map[store.RequestID]*run{}}
		v.repositories[named.Repository] = of
	}
	of.requests[r.id] = r
}

// forgetWatch takes a request off the list. What is known of its repository stays. v.mu must be held.
func (v *requestRecords) forgetWatch(id store.RequestID, was *store.RunRequest) {
	if named, ok := was.Workflow(); ok && v.repositories[named.Repository] != nil {
		delete(v.repositories[named.Repository].requests, id)
	}
}

// ofRepository returns copies of the requests for runs of a repository, in order.
func (v *requestRecords) ofRepository(name string) []run {
	v.mu.RLock()
	defer v.mu.RUnlock()
	of := v.repositories[name]
	if of == nil {
		return nil
	}
	out := make([]run, 0, len(of.requests))
	for _, r := range of.requests {
		if r.request != nil {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b run) int { return cmp.Compare(a.id, b.id) })
	return out
}

// watchable lists the repositories that requests name.
func (v *requestRecords) watchable() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []string
	for name, of := range v.repositories {
		if len(of.requests) > 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out) // a map has no order; with one, the same events have the same consequences
	return out
}

// watchState returns what is known of a repository; "" means that it was not asked for yet.
func (v *requestRecords) watchState(name string) store.WatchState {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if of := v.repositories[name]; of != nil {
		return of.state
	}
	return ""
}

// watchState says whether the run of a request is watched; "" means that its repository was not asked for yet.
func (c *cache) watchState(r store.RunRequest) store.WatchState {
	named, ok := r.Workflow()
	switch {
	case c.cfg.Watch.Off:
		return store.WatchOff
	case !ok:
		return store.WatchUnnamed
	case !c.cfg.Watch.within(named.Repository):
		return store.WatchOutside
	}
	return c.requests.watchState(named.Repository)
}

// setWatchState notes whether GitHub shows the runs of a repository, and returns what was known before.
func (v *requestRecords) setWatchState(name string, state store.WatchState) (was store.WatchState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	of := v.repositories[name]
	if of == nil {
		of = &watchedRuns{requests: map[store.RequestID]*run{}}
		v.repositories[name] = of
	}
	was, of.state = of.state, state
	return was
}
