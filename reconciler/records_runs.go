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

// forgetWatch removes a request from its repository. The data of a watched repository stays. v.mu must be held.
func (v *requestRecords) forgetWatch(id store.RequestID, was *store.RunRequest) {
	if named, ok := was.Workflow(); ok && v.repositories[named.Repository] != nil {
		delete(v.repositories[named.Repository].requests, id)
		prune(v.repositories, named.Repository)
	}
}

// prune drops a repository without requests and without a watch. Workflows may name any number of repositories.
func prune(repositories map[string]*watchedRuns, name string) {
	if of := repositories[name]; of != nil && len(of.requests) == 0 && of.watch == (store.Watch{}) {
		delete(repositories, name)
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

// watchOf returns what is known of a repository, and why if GitHub does not show its runs; no state means that it was not asked for
// yet.
func (v *requestRecords) watchOf(name string) store.Watch {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if of := v.repositories[name]; of != nil {
		return of.watch
	}
	return store.Watch{}
}

// watchOf says whether the run of a request is watched; no state means that its repository was not asked for yet.
func (c *cache) watchOf(r store.RunRequest) store.Watch {
	named, ok := r.Workflow()
	switch {
	case c.cfg.Watch.Off:
		return store.Watch{State: store.WatchOff}
	case !ok:
		return store.Watch{State: store.WatchUnnamed}
	case !c.cfg.Watch.within(named.Repository):
		return store.Watch{State: store.WatchOutside}
	}
	return c.requests.watchOf(named.Repository)
}

// setWatch notes whether GitHub shows the runs of a repository, and why not, and returns what was known before.
func (v *requestRecords) setWatch(name string, state store.WatchState, detail string) (was store.WatchState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	of := v.repositories[name]
	if of == nil {
		of = &watchedRuns{requests: map[store.RequestID]*run{}}
		v.repositories[name] = of
	}
	was, of.watch = of.watch.State, store.Watch{State: state, Detail: store.Head(detail, store.MaxMessage)}
	prune(v.repositories, name)
	return was
}
