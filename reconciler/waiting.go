package reconciler

import (
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// waiting knows the requests that are short of instances, oldest first, so that the oldest is
// served first and a younger one leaves it what it can use.
type waiting struct {
	mu      sync.Mutex
	byClass map[string][]waiter        // ordered by age
	class   map[store.RequestID]string // of each in line
}

// waiter is one request that is short.
type waiter struct {
	id    store.RequestID
	since time.Time
	query pool.Query
	short int  // seats missing that are not being launched either
	tried bool // the pool had nothing for them
}

func newWaiting() *waiting {
	return &waiting{byClass: map[string][]waiter{}, class: map[store.RequestID]string{}}
}

func (w waiter) older(o waiter) bool {
	if !w.since.Equal(o.since) {
		return w.since.Before(o.since)
	}
	return w.id < o.id
}

// set notes that a request is short, or no longer is (short 0). When one leaves, the others of its
// class are woken: what it had first call on is theirs now. When one joins, the younger ones are:
// they may have to give back what it can use.
func (w *waiting) set(one waiter, wake func(store.RequestID)) {
	w.mu.Lock()
	woken := w.put(one)
	w.mu.Unlock()
	for _, id := range woken {
		wake(id)
	}
}

// leave takes a request out of the line, whatever it waited for.
func (w *waiting) leave(id store.RequestID, wake func(store.RequestID)) {
	w.mu.Lock()
	woken, _ := w.remove(id)
	w.mu.Unlock()
	for _, id := range woken {
		wake(id)
	}
}

// put is set, and returns whom to wake. w.mu must be held.
func (w *waiting) put(one waiter) []store.RequestID {
	left, was := w.remove(one.id)
	if one.short == 0 {
		return left
	}
	class := one.query.ResourceClass
	var woken []store.RequestID
	if was.id != "" && was.query.ResourceClass != class {
		woken = left // a newer attempt, of another class
	}
	list := w.byClass[class]
	at, _ := slices.BinarySearchFunc(list, one, func(o, target waiter) int {
		if o.older(target) {
			return -1
		}
		return 1
	})
	if one.tried && !was.tried {
		for _, o := range list[at:] {
			woken = append(woken, o.id)
		}
	}
	w.byClass[class] = slices.Insert(list, at, one)
	w.class[one.id] = class
	return woken
}

// remove takes a request out of the line and returns the others of its class. w.mu must be held.
func (w *waiting) remove(id store.RequestID) (others []store.RequestID, was waiter) {
	class, waits := w.class[id]
	if !waits {
		return nil, waiter{}
	}
	delete(w.class, id)
	list := w.byClass[class]
	at := slices.IndexFunc(list, func(o waiter) bool { return o.id == id })
	was = list[at]
	list = slices.Delete(list, at, at+1)
	w.byClass[class] = list
	if len(list) == 0 {
		delete(w.byClass, class)
	}
	for _, o := range list {
		others = append(others, o.id)
	}
	return others, was
}

// ahead lists the requests of the class that are short and older than one.
func (w *waiting) ahead(one waiter) []waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.byClass[one.query.ResourceClass]
	for i, o := range list {
		if !o.older(one) {
			return slices.Clone(list[:i])
		}
	}
	return slices.Clone(list)
}

// wake adds the oldest request that can use the instance.
func (w *waiting) wake(t pool.Ticket, add func(store.RequestID)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.byClass[t.ResourceClass] {
		if o.query.Matches(t) {
			add(o.id)
			return
		}
	}
}

// reserve returns the test that leaves to older requests as many candidates as they are short of;
// nil if there are none. It is safe for concurrent use.
func reserve(ahead []waiter) func(pool.Ticket) bool {
	if len(ahead) == 0 {
		return nil
	}
	var mu sync.Mutex
	left := slices.Clone(ahead)
	reserved := map[string]bool{}
	return func(t pool.Ticket) bool {
		mu.Lock()
		defer mu.Unlock()
		if reserved[t.InstanceID] {
			return true
		}
		for i := range left {
			if left[i].short > 0 && left[i].query.Matches(t) {
				left[i].short--
				reserved[t.InstanceID] = true
				return true
			}
		}
		return false
	}
}

// stuck lists those that found nothing in the pool.
func stuck(ahead []waiter) []waiter {
	return slices.DeleteFunc(slices.Clone(ahead), func(w waiter) bool { return !w.tried })
}
