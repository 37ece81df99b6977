package reconciler

import (
	"slices"
	"sync"
	"time"
)

// runTurns is the line of repositories whose looks GitHub's budget has no room for. Only the first of them goes on, until its look is
// done: were they all to go on, each would get a call now and then, and their looks would take as long as all of them together.
type runTurns struct {
	mu   sync.Mutex
	line []string
}

// may reports whether a repository may be looked at now. If not, it is in the line.
func (t *runTurns) may(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.line) == 0 || t.line[0] == name {
		return true
	}
	t.join(name)
	return false
}

// hold puts a repository into the line whose look was put off.
func (t *runTurns) hold(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.join(name)
}

// join is hold under the lock.
func (t *runTurns) join(name string) {
	if !slices.Contains(t.line, name) {
		t.line = append(t.line, name)
	}
}

// leave takes a repository out of the line, and returns whose turn it is now if it was that one's; else "".
func (t *runTurns) leave(name string) (next string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.line, name)
	if at < 0 {
		return ""
	}
	t.line = slices.Delete(t.line, at, at+1)
	if at == 0 && len(t.line) > 0 {
		return t.line[0]
	}
	return ""
}

// runLook is a look at a repository, from its first call to its last: those that were put off go on where they stopped.
type runLook struct {
	begun  time.Time
	listed bool           // the lists of active runs were read
	failed bool           // it did not come to its end for another reason than the budget
	due    map[int64]bool // runs to look at. One that was named later may have begun after the lists were read
}

// resumedFor is for how long a look goes on with the lists that it began with: were they asked for anew each time, they would take
// all the room there is. With 10 calls an hour left it is time for two, and with 50 for a dozen.
const resumedFor = 15 * time.Minute

// resumes reports whether the look that is under way, if one is, goes on. One that failed does only until the lists are due anyway:
// whatever is wrong with one run delays no other.
func (l *runLook) resumes(poll time.Duration, now time.Time) bool {
	limit := resumedFor
	if l != nil && l.failed {
		limit = min(poll, limit)
	}
	return l != nil && now.Sub(l.begun) < limit
}

// newLook begins one.
func newLook(requests []run, now time.Time) *runLook {
	l := &runLook{begun: now, due: map[int64]bool{}}
	for _, r := range requests {
		l.due[r.workflow().Run] = true
	}
	return l
}
