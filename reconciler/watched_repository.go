package reconciler

import (
	"hash/fnv"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// watchedRepositories are the repositories of a tenure.
type watchedRepositories struct {
	mu     sync.Mutex
	byName map[string]*watchedRepository
}

// get returns a repository, new if need be. Only the look at its key uses it.
func (k *watchedRepositories) get(name string) *watchedRepository {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName == nil {
		k.byName = map[string]*watchedRepository{}
	}
	if k.byName[name] == nil {
		k.byName[name] = &watchedRepository{
			name: name, ends: runEnds{alone: map[int64]bool{}}, missed: map[int64]int{}, settled: map[int64]int{},
			quietSince: map[store.RequestID]time.Time{}, told: map[string]bool{}, strays: map[strayAttempt]int{}, stuck: map[int64]*stuckRun{},
		}
	}
	return k.byName[name]
}

func (k *watchedRepositories) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byName, name)
}

// watchedRepository is what a tenure remembers of one.
type watchedRepository struct {
	name       string
	active     map[int64]githubapi.WorkflowRun // as it was listed last
	looks      int
	look       *runLook // nil: none is under way
	last       int64    // run that was looked at
	ends       runEnds
	missed     map[int64]int                 // how often in a row a run was not found
	settled    map[int64]int                 // attempts whose lost jobs were decided about
	quietSince map[store.RequestID]time.Time // since when no job under its label has waited or run
	told       map[string]bool               // what was said once
	strays     map[strayAttempt]int          // looks at those that no request remembers
	stuck      map[int64]*stuckRun           // by run, the jobs that no runner takes
}

// strayAttempt is an attempt of a run that no request remembers.
type strayAttempt struct {
	run     int64
	attempt int
}

// retain forgets what is about other requests and runs than these, so that a tenure's memory does not grow.
func (w *watchedRepository) retain(requests []run) {
	attempts, runs := map[string]bool{}, map[int64]bool{}
	ids := map[store.RequestID]bool{}
	for _, r := range requests {
		attempts[attemptKey(r)], runs[r.workflow().Run], ids[r.id] = true, true, true
	}
	maps.DeleteFunc(w.told, func(key string, _ bool) bool { return !attempts[key] })
	maps.DeleteFunc(w.quietSince, func(id store.RequestID, _ time.Time) bool { return !ids[id] })
	maps.DeleteFunc(w.missed, func(id int64, _ int) bool { return !runs[id] })
	maps.DeleteFunc(w.ends.alone, func(id int64, _ bool) bool { return !runs[id] })
	maps.DeleteFunc(w.settled, func(id int64, _ int) bool { return !runs[id] })
	maps.DeleteFunc(w.stuck, func(id int64, _ *stuckRun) bool { return !runs[id] })
	maps.DeleteFunc(w.strays, func(s strayAttempt, _ int) bool { return w.active[s.run].Attempt != s.attempt })
}

// stuckRun returns the stored state of a run's jobs. A new attempt gets a new state, and a new status restarts the count of polls.
func (w *watchedRepository) stuckRun(view githubapi.WorkflowRun) *stuckRun {
	of := w.stuck[view.ID]
	if of == nil || of.attempt != view.Attempt {
		of = &stuckRun{attempt: view.Attempt}
		w.stuck[view.ID] = of
	}
	if of.status != view.Status {
		of.status, of.polls, of.next = view.Status, 0, 0
	}
	return of
}

// strayLooks counts another look at each active run that was run again and that nobody knows, and returns how many each has had.
func (w *watchedRepository) strayLooks(known map[int64]bool) map[int64]int {
	out := map[int64]int{}
	for id, view := range w.active {
		if view.Attempt > 1 && !known[id] {
			key := strayAttempt{id, view.Attempt}
			w.strays[key]++
			out[id] = w.strays[key]
		}
	}
	return out
}

// listed takes a listing.
func (w *watchedRepository) listed(active []githubapi.WorkflowRun) {
	w.active = make(map[int64]githubapi.WorkflowRun, len(active))
	for _, r := range active {
		if was, twice := w.active[r.ID]; !twice || r.Attempt > was.Attempt { // it moved from one list to the other meanwhile
			w.active[r.ID] = r
		}
		delete(w.missed, r.ID)
		delete(w.ends.alone, r.ID)
	}
	w.ends.listed = nil
	w.look.listed = true
}

// looked notes that a run needs no other look before the next listing.
func (w *watchedRepository) looked(id int64) {
	delete(w.look.due, id)
	w.last = id
}

// asked notes whether a run that was asked for by itself was found.
func (w *watchedRepository) asked(id int64, found bool) {
	if found {
		delete(w.missed, id)
		return
	}
	w.missed[id]++
}

// pause ends the look and returns how long to wait for the next: the configured time, off by up to a tenth so that repositories part.
func (w *watchedRepository) pause(poll time.Duration) time.Duration {
	w.look = nil
	w.looks++
	h := fnv.New32a()
	_, _ = io.WriteString(h, w.name+" "+strconv.Itoa(w.looks)) // never fails
	return poll + poll*time.Duration(int64(h.Sum32()%200)-100)/1000
}

// quiet returns for how long none of a request's jobs has waited or run.
func (w *watchedRepository) quiet(id store.RequestID, jobs jobsOfRun, now time.Time) time.Duration {
	if jobs.queued+jobs.running > 0 {
		delete(w.quietSince, id)
		return 0
	}
	since, known := w.quietSince[id]
	if !known {
		w.quietSince[id] = now
		return 0
	}
	return now.Sub(since)
}

// once says something about an attempt of a request only once.
func (w *watchedRepository) once(r run, say func()) {
	key := attemptKey(r)
	if !w.told[key] {
		w.told[key] = true
		say()
	}
}
