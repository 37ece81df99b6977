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
			name: name, missed: map[int64]int{}, settled: map[int64]int{},
			quietSince: map[store.RequestID]time.Time{}, told: map[string]bool{}, strays: map[strayAttempt]int{},
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
	listedAt   time.Time
	looked     map[int64]bool // runs, since that
	turns      turns
	missed     map[int64]int                 // how often in a row a run was not found
	settled    map[int64]int                 // attempts whose lost jobs were decided about
	quietSince map[store.RequestID]time.Time // since when no job under its label has waited or run
	told       map[string]bool               // what was said once
	strays     map[strayAttempt]int          // looks at those that no request remembers
}

// turns are how its looks went of late.
type turns struct {
	count    int           // of listings
	cut      bool          // the last look did not come to its end
	held     bool          // GitHub's budget was too short for one, since the last that came to its end
	interval time.Duration // between two listings
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
	maps.DeleteFunc(w.settled, func(id int64, _ int) bool { return !runs[id] })
	maps.DeleteFunc(w.strays, func(s strayAttempt, _ int) bool { return w.active[s.run].Attempt != s.attempt })
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
func (w *watchedRepository) listed(active []githubapi.WorkflowRun, now time.Time) {
	w.active = make(map[int64]githubapi.WorkflowRun, len(active))
	for _, r := range active {
		if was, twice := w.active[r.ID]; !twice || r.Attempt > was.Attempt { // it moved from one list to the other meanwhile
			w.active[r.ID] = r
		}
		delete(w.missed, r.ID)
	}
	if w.turns.interval = w.turns.interval * 3 / 4; w.turns.held && !w.listedAt.IsZero() { // not one that was denied, or GitHub down
		w.turns.interval = now.Sub(w.listedAt)
	}
	w.listedAt, w.looked = now, map[int64]bool{}
	w.turns.count++
}

// resumedFor is for how long a look that was put off goes on where it stopped, with the lists that it began with: were they asked
// for anew each time, they would take all the room there is. One that failed goes on only until the lists are due anyway: whatever
// is wrong with one run delays no other.
const resumedFor = 5 * time.Minute

// resumes reports whether this look goes on with one that did not come to its end.
func (w *watchedRepository) resumes(poll time.Duration, now time.Time) bool {
	limit := resumedFor
	if !w.turns.held {
		limit = min(poll, resumedFor)
	}
	return w.turns.cut && w.looked != nil && now.Sub(w.listedAt) < limit
}

// asked notes whether a run that was asked for by itself was found.
func (w *watchedRepository) asked(id int64, found bool) {
	if found {
		delete(w.missed, id)
		return
	}
	w.missed[id]++
}

// mostPolls bounds how much longer than configured the time between two looks gets: the budget may have been short for an hour, and
// be whole now.
const mostPolls = 12

// pause returns how long to wait for the next look: the configured time, off by up to a tenth so that repositories part; longer
// as long as looks have to be put off, so that each repository gets its turn.
func (w *watchedRepository) pause(poll time.Duration, now time.Time) time.Duration {
	h := fnv.New32a()
	_, _ = io.WriteString(h, w.name+" "+strconv.Itoa(w.turns.count)) // never fails
	poll += poll * time.Duration(int64(h.Sum32()%200)-100) / 1000
	w.looked, w.turns.cut = nil, false
	w.turns.held = false
	w.turns.interval = min(w.turns.interval, mostPolls*poll)
	return max(poll, w.turns.interval-now.Sub(w.listedAt))
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
