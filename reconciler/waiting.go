package reconciler

import (
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// waiting knows the requests that are short of instances, oldest first, so that the oldest is served
// first and a younger one leaves it what it can use.
//
// One that waits is asked to look again only when there may be something for it: an instance that it can
// use and no older one needs, room under the caps, or an older one to give something back to. So at rest
// no request looks, and one that was served wakes as many others as it leaves something for.
type waiting struct {
	count func(pool.Query) int  // of candidates in the pool
	wake  func(store.RequestID) // lets a request look again; it must not wait
	eased func()                // called when the requests in line need fewer instances; it must not block

	mu    sync.Mutex
	lines map[string]*line // by class
	all   map[store.RequestID]*waiter
}

// waiter is one request that is short.
type waiter struct {
	id     store.RequestID
	since  time.Time
	query  pool.Query
	kind   string // of the query
	short  int    // seats missing that are neither being launched nor being claimed
	tried  bool   // the pool had nothing for them
	capped bool   // the caps keep it from launching them
	holds  bool   // it has seats that an older one may need
}

func newWaiting(count func(pool.Query) int, wake func(store.RequestID)) *waiting {
	return &waiting{count: count, wake: wake, eased: func() {}, lines: map[string]*line{}, all: map[store.RequestID]*waiter{}}
}

func (w waiter) older(o waiter) bool {
	if !w.since.Equal(o.since) {
		return w.since.Before(o.since)
	}
	return w.id < o.id
}

// set notes that a request is short, or no longer is (short 0). One that has looked into the pool stays so
// for as long as it is in line. When it has for the first time, younger ones that hold something are woken:
// they may have to give it back. What it needs no longer is for those behind it.
func (w *waiting) set(one waiter) {
	w.change(one.id, func(was *waiter) *waiter {
		if one.short == 0 {
			return nil
		}
		one.kind = kind(one.query)
		one.tried = one.tried || was != nil && was.tried && was.since.Equal(one.since) && was.query.ResourceClass == one.query.ResourceClass
		return &one
	})
}

// leave takes a request out of the line, whatever it waited for.
func (w *waiting) leave(id store.RequestID) {
	w.change(id, func(*waiter) *waiter { return nil })
}

// took notes that a request has taken a candidate, which it is about to claim: the next one need not leave
// it another for that. missed notes that the claim failed.
func (w *waiting) took(id store.RequestID) { w.shorten(id, -1) }

func (w *waiting) missed(id store.RequestID) { w.shorten(id, 1) }

func (w *waiting) shorten(id store.RequestID, by int) {
	w.change(id, func(was *waiter) *waiter {
		if was == nil {
			return nil
		}
		now := *was
		now.short = max(0, now.short+by)
		return &now
	})
}

// capReached notes whether the caps keep a request from launching what it is short of.
func (w *waiting) capReached(id store.RequestID, capped bool) {
	w.change(id, func(was *waiter) *waiter {
		if was == nil || was.capped == capped {
			return was
		}
		now := *was
		now.capped = capped
		return &now
	})
}

// change replaces what is known of a request and wakes those whom that gives something to do.
func (w *waiting) change(id store.RequestID, to func(was *waiter) *waiter) {
	w.mu.Lock()
	was := w.all[id]
	now := to(was)
	var woken []store.RequestID
	less := false
	if was != now {
		less = was != nil && (now == nil || now.short < was.short || now.query.ResourceClass != was.query.ResourceClass)
		woken = w.replace(was, now)
	}
	w.mu.Unlock()
	if less {
		w.eased()
	}
	for _, id := range woken {
		w.wake(id)
	}
}

// replace takes was out of its line, puts now into its, and returns whom that concerns; either may be nil. w.mu must
// be held.
func (w *waiting) replace(was, now *waiter) []store.RequestID {
	var old *line
	var first *waiter
	if was != nil {
		old = w.line(was.query.ResourceClass)
		first = old.front()
		old.remove(was)
		delete(w.all, was.id)
	}
	var woken []store.RequestID
	if now != nil {
		l := w.line(now.query.ResourceClass)
		l.add(now)
		w.all[now.id] = now
		if now.tried && (was == nil || !was.tried) {
			woken = l.holdersBehind(now)
		}
	}
	if was == nil {
		return woken
	}
	if now == nil || now.short < was.short || now.kind != was.kind || !now.since.Equal(was.since) {
		woken = append(woken, old.next(was, w.count)...)
	}
	if front := old.front(); first == was && front != nil && front.id != was.id && front.capped {
		woken = append(woken, front.id) // it alone may use less room than it needs
	}
	if len(old.lanes) == 0 {
		delete(w.lines, was.query.ResourceClass)
	}
	return woken
}

// line returns the line of a class. w.mu must be held.
func (w *waiting) line(class string) *line {
	l := w.lines[class]
	if l == nil {
		l = &line{}
		w.lines[class] = l
	}
	return l
}

// ahead returns what the requests of the class that are older than one are short of; tried: only of those
// that found nothing in the pool.
func (w *waiting) ahead(one waiter, tried bool) []demand {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.lines[one.query.ResourceClass]; l != nil {
		return l.ahead(&one, tried)
	}
	return nil
}

// get returns what is known of a request in line.
func (w *waiting) get(id store.RequestID) (waiter, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[id]
	if one == nil {
		return waiter{}, false
	}
	return *one, true
}

// place returns how many of its class are ahead of one, and the oldest of them.
func (w *waiting) place(one waiter) (ahead int, first store.RequestID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[one.query.ResourceClass]
	if l == nil {
		return 0, ""
	}
	var oldest *waiter
	for _, lane := range l.lanes {
		n := lane.before(&one)
		ahead += n
		if n > 0 && (oldest == nil || lane.waiters[0].older(*oldest)) {
			oldest = lane.waiters[0]
		}
	}
	if oldest == nil {
		return 0, ""
	}
	return ahead, oldest.id
}

// oldest returns the oldest request that can use the instance, and false if none can.
func (w *waiting) oldest(t pool.Ticket) (store.RequestID, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[t.ResourceClass]
	if l == nil {
		return "", false
	}
	o := l.oldest(func(lane *lane) bool { return lane.query.Matches(t) })
	if o == nil {
		return "", false
	}
	return o.id, true
}

// classes lists those in which a request waits for room.
func (w *waiting) classes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for class, l := range w.lines {
		if l.oldest(func(lane *lane) bool { return lane.capped }) != nil {
			out = append(out, class)
		}
	}
	return out
}

// capped lists those that wait for room below the caps, in no order.
func (w *waiting) capped() []waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []waiter
	for _, one := range w.all {
		if one.capped {
			out = append(out, *one)
		}
	}
	return out
}

// shortOf returns how many instances all requests in line are short of, and those of a class.
func (w *waiting) shortOf(class string) (all, ofClass int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		all += one.short
		if one.query.ResourceClass == class {
			ofClass += one.short
		}
	}
	return all, ofClass
}

// capacityFreed says that so many more instances may be launched for a class: the first in line may use any
// number, a later one as many as it needs.
func (w *waiting) capacityFreed(class string, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[class]
	if l == nil || left <= 0 {
		return
	}
	front := l.front()
	if front != nil && front.capped {
		w.wake(front.id)
	}
	if o := l.oldest(func(lane *lane) bool { return lane.capped && lane.short <= left }); o != nil && o != front {
		w.wake(o.id)
	}
}
