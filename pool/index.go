package pool

import "time"

const (
	// maxPlans bounds the memo of queries. A plan of 500 groups takes 4 KiB, so all together 1 MiB;
	// an installation with more than 256 different request specs at once recomputes some (about
	// 15 µs each at 500 groups).
	maxPlans = 256
	// maxEmptyGroups bounds the groups kept without any entry. An instance that is taken and comes
	// back a few minutes later finds its group and all plans in place; EC2 has about 1,000 types.
	maxEmptyGroups = 1024
)

// index finds candidates. It is not safe for concurrent use.
type index struct {
	gone    func(*entry) // told of every entry that leaves
	entries map[string]*entry
	groups  map[groupKey]*group
	classes map[string][]*group // the same by class: a query sees its own only
	empty   int                 // groups of size 0
	ready   int                 // available entries
	lapsed  uint64              // entries removed because of their threshold, ever
	plans   map[string]*plan
	key     []byte   // scratch
	aside   []*entry // scratch
}

// plan is the memo of a query: the groups that match, per usage class in the query's order.
type plan struct {
	query  Query
	groups [][]*group
}

func newIndex(gone func(*entry)) *index {
	return &index{
		gone: gone, entries: make(map[string]*entry), groups: make(map[groupKey]*group),
		classes: make(map[string][]*group), plans: make(map[string]*plan),
	}
}

// put adds a candidate, or replaces its attributes and leaves it hidden if it is.
func (x *index) put(t Ticket) *entry {
	e := x.entries[t.InstanceID]
	if e != nil && e.group.key == keyOf(t) && e.threshold.Equal(t.Threshold) {
		return e
	}
	available := true
	if e == nil {
		e = &entry{id: t.InstanceID, pos: hidden}
		x.entries[e.id] = e
	} else {
		available = e.pos != hidden
		x.leave(e)
	}
	g := x.group(keyOf(t))
	if g.size == 0 {
		x.empty--
	}
	g.size++
	e.group, e.threshold = g, t.Threshold.Round(0)
	if available {
		x.show(e)
	}
	return e
}

// remove takes e out for good.
func (x *index) remove(e *entry) {
	x.leave(e)
	delete(x.entries, e.id)
	x.gone(e)
}

// lapse removes an entry that has expired.
func (x *index) lapse(e *entry) {
	x.remove(e)
	x.lapsed++
}

// leave takes e out of its group.
func (x *index) leave(e *entry) {
	if e.pos != hidden {
		x.hide(e)
	}
	e.group.size--
	if e.group.size == 0 {
		x.empty++
	}
}

func (x *index) show(e *entry) {
	e.group.show(e)
	x.ready++
}

func (x *index) hide(e *entry) {
	e.group.hide(e)
	x.ready--
}

// group returns the group of k. A new one joins every plan that it matches.
func (x *index) group(k groupKey) *group {
	if g := x.groups[k]; g != nil {
		return g
	}
	if x.empty >= maxEmptyGroups {
		x.prune()
	}
	g := &group{key: k}
	x.groups[k] = g
	x.classes[k.class] = append(x.classes[k.class], g)
	x.empty++
	for _, p := range x.plans {
		p.add(g)
	}
	return g
}

// prune forgets the groups without entries, and the plans, which hold some of them.
func (x *index) prune() {
	clear(x.classes)
	for k, g := range x.groups {
		if g.size == 0 {
			delete(x.groups, k)
		} else {
			x.classes[k.class] = append(x.classes[k.class], g)
		}
	}
	x.empty = 0
	clear(x.plans)
}

// plan returns the memo of q.
func (x *index) plan(q Query) *plan {
	x.key = q.appendKey(x.key[:0])
	if p := x.plans[string(x.key)]; p != nil {
		return p
	}
	p := &plan{query: q.clone(), groups: make([][]*group, len(q.UsageClasses))}
	for _, g := range x.classes[q.ResourceClass] {
		p.add(g)
	}
	if len(x.plans) >= maxPlans {
		for k := range x.plans { // any: what is in use comes back at once
			delete(x.plans, k)
			break
		}
	}
	x.plans[string(x.key)] = p
	return p
}

// add takes g in if it matches.
func (p *plan) add(g *group) {
	for i, usage := range p.query.UsageClasses {
		if usage == g.key.usage && p.query.fits(&g.key) {
			p.groups[i] = append(p.groups[i], g)
		}
	}
}

// pick hides and returns the best candidate for q that skip lets pass, or nil. Candidates that
// skip refuses are available again before pick returns; expired ones are removed.
func (x *index) pick(q Query, now time.Time, skip func(*entry) bool) (found *entry) {
	defer func() { // deferred, because skip calls what others wrote
		for _, e := range x.aside {
			if e != found {
				x.show(e)
			}
		}
		clear(x.aside)
		x.aside = x.aside[:0]
	}()
	for _, groups := range x.plan(q).groups {
		for e := x.oldest(groups, now); e != nil; e = x.oldest(groups, now) {
			x.hide(e)
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
			x.lapse(e)
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
			x.lapse(e)
		}
	}
	return false
}
