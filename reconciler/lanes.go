package reconciler

import (
	"slices"
	"sync"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// line is the requests of one class that are short. Those that differ by nothing but their age share a
// lane, in which the number of older ones is a search and not a walk: a thousand requests of one kind are
// one lane, or a few.
type line struct{ lanes []*lane }

// lane is requests of one kind that are short of the same number and in the same condition.
type lane struct {
	query         pool.Query
	kind          string
	short         int
	tried, capped bool
	holds         bool
	waiters       []*waiter // ordered by age
}

func (l *lane) fits(o *waiter) bool {
	return l.short == o.short && l.tried == o.tried && l.capped == o.capped && l.holds == o.holds && l.kind == o.kind
}

// before returns how many of the lane are older than one.
func (l *lane) before(one *waiter) int {
	at, _ := slices.BinarySearchFunc(l.waiters, one, func(o, target *waiter) int {
		if o.older(*target) {
			return -1
		}
		return 1
	})
	return at
}

// after returns the oldest of the lane that is younger than one, or nil.
func (l *lane) after(one *waiter) *waiter {
	at := l.before(one)
	if at < len(l.waiters) && l.waiters[at].id == one.id {
		at++
	}
	if at == len(l.waiters) {
		return nil
	}
	return l.waiters[at]
}

// add puts a waiter into its lane; one that is short of nothing is in none.
func (l *line) add(one *waiter) {
	if one.short == 0 {
		return
	}
	at := slices.IndexFunc(l.lanes, func(lane *lane) bool { return lane.fits(one) })
	if at < 0 {
		at = len(l.lanes)
		l.lanes = append(l.lanes, &lane{
			query: one.query, kind: one.kind, short: one.short, tried: one.tried, capped: one.capped, holds: one.holds,
		})
	}
	to := l.lanes[at]
	to.waiters = slices.Insert(to.waiters, to.before(one), one)
}

// remove takes a waiter that was added out again.
func (l *line) remove(one *waiter) {
	if one.short == 0 {
		return
	}
	at := slices.IndexFunc(l.lanes, func(lane *lane) bool { return lane.fits(one) })
	from := l.lanes[at]
	i := from.before(one)
	from.waiters = slices.Delete(from.waiters, i, i+1)
	if len(from.waiters) == 0 {
		l.lanes = slices.Delete(l.lanes, at, at+1)
	}
}

// oldest returns the oldest waiter of the lanes that match, or nil.
func (l *line) oldest(match func(*lane) bool) *waiter {
	var first *waiter
	for _, lane := range l.lanes {
		if match(lane) && (first == nil || lane.waiters[0].older(*first)) {
			first = lane.waiters[0]
		}
	}
	return first
}

// front returns the oldest of those that have looked into the pool, or nil.
func (l *line) front() *waiter {
	return l.oldest(func(lane *lane) bool { return lane.tried })
}

// demand is what requests of one kind are short of.
type demand struct {
	query pool.Query
	seats int
	since *waiter // the oldest of them
}

// ahead sums up those older than one, the demand of the oldest first.
func (l *line) ahead(one *waiter, tried bool) []demand {
	var out []demand
	for _, lane := range l.lanes {
		n := lane.before(one)
		if n == 0 || tried && !lane.tried {
			continue
		}
		out = append(out, demand{lane.query, n * lane.short, lane.waiters[0]})
	}
	slices.SortFunc(out, func(a, b demand) int {
		if a.since.older(*b.since) {
			return -1
		}
		return 1
	})
	return out
}

// next returns, of each kind, the oldest that is younger than one if the pool has more candidates for it
// than those of its kind ahead of it are short of. It goes on to the one after it by itself.
func (l *line) next(one *waiter, count func(pool.Query) int) []store.RequestID {
	var out []store.RequestID
	for i, lane := range l.lanes {
		if slices.ContainsFunc(l.lanes[:i], lane.sameKind) {
			continue // seen already
		}
		var first *waiter
		for _, o := range l.lanes[i:] {
			if after := o.after(one); lane.sameKind(o) && after != nil && (first == nil || after.older(*first)) {
				first = after
			}
		}
		if first == nil {
			continue
		}
		ahead := 0
		for _, o := range l.lanes[i:] {
			if lane.sameKind(o) {
				ahead += o.short * o.before(first)
			}
		}
		if count(lane.query) > ahead {
			out = append(out, first.id)
		}
	}
	return out
}

func (l *lane) sameKind(o *lane) bool { return l.kind == o.kind }

// holdersBehind lists those that are younger than one and hold something.
func (l *line) holdersBehind(one *waiter) []store.RequestID {
	var out []store.RequestID
	for _, lane := range l.lanes {
		if !lane.holds {
			continue
		}
		for _, o := range lane.waiters[lane.before(one):] {
			if o.id != one.id {
				out = append(out, o.id)
			}
		}
	}
	return out
}

// reserve returns the test that leaves to older requests as many candidates as they are short of;
// nil if there are none. It is safe for concurrent use.
func reserve(ahead []demand) func(pool.Ticket) bool {
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
			if left[i].seats > 0 && left[i].query.Matches(t) {
				left[i].seats--
				reserved[t.InstanceID] = true
				return true
			}
		}
		return false
	}
}
