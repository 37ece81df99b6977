package reconciler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// batch collects what requests want launched, until the window of its kind closes.
type batch struct {
	mu       sync.Mutex
	wants    map[string]map[store.RequestID]want // by kind
	kinds    map[store.RequestID]string          // of each that wants something
	wanted   map[string]int                      // instances that requests want, by class
	opened   map[string]gathering                // by kind, while there are wants
	uncalled map[string]bool                     // launches of this process whose call was not made yet
	reserved map[string]store.Launch             // by token: launches without a confirmed record; they count toward the caps
}

// gathering is a window that is open.
type gathering struct {
	first, last time.Time // when a request joined it
	n           int       // requests in it
}

// longestBatch bounds how long a window stays open while requests keep joining it: a controller takes
// 1,000 of them up within half a second, and the launch itself takes EC2 two.
const longestBatch = time.Second

// want is one request's part of a coming launch.
type want struct {
	id      store.RequestID
	attempt int
	count   int
	since   time.Time // age of the request: the oldest gets its machines first
	query   pool.Query
}

// kind is that of its query. A floor, which comes after all requests, shares no launch with them.
func (w want) kind() string {
	if _, floor := w.id.Floor(); floor {
		return kind(w.query) + "|floor"
	}
	return kind(w.query)
}

func newBatch() *batch {
	return &batch{
		wants: map[string]map[store.RequestID]want{}, kinds: map[store.RequestID]string{}, wanted: map[string]int{},
		opened: map[string]gathering{}, uncalled: map[string]bool{}, reserved: map[string]store.Launch{},
	}
}

// batchPrefix marks keys of the launch queue that stand for a window, not for a launch.
const batchPrefix = "batch "

// kind names everything that must be equal for two requests to share a launch.
func kind(q pool.Query) string {
	return batchPrefix + strings.Join([]string{
		q.ResourceClass, strings.Join(q.UsageClasses, ","), strings.Join(q.AllowedTypes, ","), fmt.Sprint(q.CPU, q.Mem),
	}, "|")
}

// set notes what a request wants, in place of what it wanted before.
func (b *batch) set(w want) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(w.id)
	k := w.kind()
	if w.count > 0 {
		if b.wants[k] == nil {
			b.wants[k] = map[store.RequestID]want{}
		}
		b.wants[k][w.id], b.kinds[w.id] = w, k
		b.count(w, w.count)
	}
	return k
}

// join notes at now that the wants of a kind may have become more.
func (b *batch) join(k string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, n := b.opened[k], len(b.wants[k])
	if g.n == 0 {
		g.first = now
	}
	if n > g.n {
		g.last = now
	}
	g.n = n
	b.opened[k] = g
}

// closes returns when the window of a kind closes: idle after the last request has joined it,
// longestBatch after the first at the latest. The zero time means that it is not open.
func (b *batch) closes(k string, idle time.Duration) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, ok := b.opened[k]
	if !ok {
		return time.Time{}
	}
	if end := g.first.Add(longestBatch); g.last.Add(idle).After(end) {
		return end
	}
	return g.last.Add(idle)
}

// leave forgets what a request wanted and reports whether that was anything.
func (b *batch) leave(id store.RequestID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.remove(id)
}

// count counts what a request wants. What floors want keeps no room from requests. b.mu must be held.
func (b *batch) count(w want, n int) {
	if _, floor := w.id.Floor(); !floor {
		b.wanted[w.query.ResourceClass] += n
	}
}

// remove is leave. b.mu must be held.
func (b *batch) remove(id store.RequestID) bool {
	k, wants := b.kinds[id]
	if !wants {
		return false
	}
	w := b.wants[k][id]
	b.count(w, -w.count)
	delete(b.kinds, id)
	delete(b.wants[k], id)
	if len(b.wants[k]) == 0 {
		delete(b.wants, k)
	}
	return true
}

// pending returns how many instances of a request await their window.
func (b *batch) pending(id store.RequestID) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wants[b.kinds[id]][id].count
}

// total returns how many instances await their window, in all and of class.
func (b *batch) total(class string) (all, ofClass int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.wanted {
		all += n
	}
	return all, b.wanted[class]
}

// take returns what is wanted of a kind, the oldest first. The wants stay counted as pending until drop.
func (b *batch) take(k string) []want {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.SortedFunc(maps.Values(b.wants[k]), func(a, b want) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
}

// drop ends the wants of a window.
func (b *batch) drop(k string, taken []want) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range taken {
		if b.kinds[w.id] == k {
			b.remove(w.id)
		}
	}
	if len(b.wants[k]) == 0 {
		delete(b.opened, k)
		return
	}
	g := b.opened[k] // a new window, of those that joined meanwhile
	b.opened[k] = gathering{g.last, g.last, len(b.wants[k])}
}

// reserve keeps a launch until its record is confirmed, or the launch is dropped.
func (b *batch) reserve(l store.Launch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved[l.Token] = l
}

// unwritten returns a launch whose record is not confirmed yet.
func (b *batch) unwritten(token string) (store.Launch, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.reserved[token]
	return l, ok
}

// giveUp drops a launch whose record was not written.
func (b *batch) giveUp(token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.reserved, token)
}

// writing returns how many machines are being asked for, for an attempt or, if it is 0, for all, by records under way.
func (b *batch) writing(id store.RequestID, attempt int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, l := range b.reserved {
		for _, s := range l.Seats {
			if s.RequestID == id && (s.Attempt == attempt || attempt == 0) {
				n += s.Count
			}
		}
	}
	return n
}

// underWay returns the launches whose records are being written, or were with an unknown outcome.
func (b *batch) underWay() []store.Launch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.reserved))
}

// intended notes that a launch was written, and, unless it was found so, not called.
func (b *batch) intended(token string, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.reserved, token)
	if !found {
		b.uncalled[token] = true
	}
}

// begin notes that the call is about to be made and reports whether it certainly was not before.
func (b *batch) begin(token string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	uncalled := b.uncalled[token]
	delete(b.uncalled, token)
	return uncalled
}
