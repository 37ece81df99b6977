package pool

import (
	"slices"
	"time"
)

// index finds candidates. It is not safe for concurrent use.
type index struct {
	entries map[string]*entry
	groups  map[groupKey]*group
	classes map[string][]*group // the same by class: a query sees its own only
	last    *plan               // of the query asked last; nil once a group came or went
	aside   []*entry            // scratch
}

// plan is the groups that a query takes, per usage class in the query's order. A request asks the same as many times as
// it has seats, and so do requests of one kind: comparing with 500 types costs 7 µs, and what is kept none.
type plan struct {
	query  Query
	groups [][]*group
}

func newIndex() *index {
	return &index{entries: make(map[string]*entry), groups: make(map[groupKey]*group), classes: make(map[string][]*group)}
}

// put adds a candidate, or replaces its attributes and leaves it hidden if it is.
func (x *index) put(t Ticket) {
	e := x.entries[t.InstanceID]
	if e != nil && e.group.key == keyOf(t) && e.threshold.Equal(t.Threshold) {
		return
	}
	available := true
	if e == nil {
		e = &entry{id: t.InstanceID, pos: hidden}
		x.entries[e.id] = e
	} else {
		available = e.pos != hidden
		x.leave(e)
	}
	e.group, e.threshold = x.group(keyOf(t)), t.Threshold.Round(0)
	e.group.size++
	if available {
		e.group.show(e)
	}
}

// remove takes e out for good.
func (x *index) remove(e *entry) {
	x.leave(e)
	delete(x.entries, e.id)
}

// leave takes e out of its group, which ends with its last entry.
func (x *index) leave(e *entry) {
	g := e.group
	if e.pos != hidden {
		g.hide(e)
	}
	if g.size--; g.size > 0 {
		return
	}
	x.last = nil
	delete(x.groups, g.key)
	x.classes[g.key.class] = slices.DeleteFunc(x.classes[g.key.class], func(o *group) bool { return o == g })
	if len(x.classes[g.key.class]) == 0 {
		delete(x.classes, g.key.class)
	}
}

// group returns the group of k.
func (x *index) group(k groupKey) *group {
	g := x.groups[k]
	if g == nil {
		g = &group{key: k}
		x.last = nil
		x.groups[k] = g
		x.classes[k.class] = append(x.classes[k.class], g)
	}
	return g
}

// plan returns the groups that q takes, until a group comes or goes.
func (x *index) plan(q Query) [][]*group {
	if x.last != nil && x.last.query.equal(q) {
		return x.last.groups
	}
	p := &plan{query: q.clone(), groups: make([][]*group, len(q.UsageClasses))}
	for _, g := range x.classes[q.ResourceClass] {
		for i, usage := range q.UsageClasses {
			if usage == g.key.usage && q.fits(&g.key) {
				p.groups[i] = append(p.groups[i], g)
			}
		}
	}
	x.last = p
	return p.groups
}

// pick hides and returns the best candidate for q that skip lets pass, or nil. Candidates that
// skip refuses are available again before pick returns; expired ones are removed.
func (x *index) pick(q Query, now time.Time, skip func(*entry) bool) (found *entry) {
	defer func() { // deferred, because skip calls what others wrote
		for _, e := range x.aside {
			if e != found {
				e.group.show(e)
			}
		}
		clear(x.aside)
		x.aside = x.aside[:0]
	}()
	for _, groups := range x.plan(q) {
		for e := x.oldest(groups, now); e != nil; e = x.oldest(groups, now) {
			e.group.hide(e)
			x.aside = append(x.aside, e)
			if !skip(e) {
				return e
			}
		}
	}
	return nil
}

// oldest returns the first available, unexpired entry of groups, or nil.
func (x *index) oldest(groups []*group, now time.Time) *entry {
	var best *entry
	for _, g := range groups {
		e := g.oldest()
		for e != nil && e.expired(now) {
			x.remove(e)
			e = g.oldest()
		}
		if e != nil && (best == nil || e.before(best)) {
			best = e
		}
	}
	return best
}

// expire removes up to limit available entries that have expired and reports whether it may have
// left some.
func (x *index) expire(now time.Time, limit int) bool {
	for _, g := range x.groups {
		for e := g.oldest(); e != nil && e.expired(now); e = g.oldest() {
			if limit == 0 {
				return true
			}
			limit--
			x.remove(e)
		}
	}
	return false
}
