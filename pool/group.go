package pool

import (
	"container/heap"
	"time"
)

// groupKey holds the attributes that queries look at. All candidates of a group are equally
// suitable for every query; they differ in identity and threshold only.
type groupKey struct {
	class, usage, typ string
	cpu, mem          int
}

func keyOf(t Ticket) groupKey {
	return groupKey{class: t.ResourceClass, usage: t.UsageClass, typ: t.InstanceType, cpu: t.CPU, mem: t.Mem}
}

// hidden is the position of an entry that is in no heap, because it is taken.
const hidden = -1

// entry is one candidate. Its attributes are those of its group, so that 100,000 entries do not
// hold 100,000 copies of them.
type entry struct {
	id        string
	threshold time.Time
	group     *group
	pos       int // in group.ready, or hidden
}

func (e *entry) ticket() Ticket {
	k := e.group.key
	return Ticket{
		InstanceID: e.id, UsageClass: k.usage, InstanceType: k.typ, CPU: k.cpu, Mem: k.mem,
		ResourceClass: k.class, Threshold: e.threshold,
	}
}

func (e *entry) expired(now time.Time) bool { return !e.threshold.After(now) }

// before orders candidates: the one that would be lost first goes first. Ids break ties, so that
// the order does not depend on how it came about.
func (e *entry) before(o *entry) bool {
	if c := e.threshold.Compare(o.threshold); c != 0 {
		return c < 0
	}
	return e.id < o.id
}

// group is a heap of the available entries with one key, and a count of all of them.
type group struct {
	key   groupKey
	ready []*entry
	size  int // available and hidden
}

// oldest returns the first available entry, or nil.
func (g *group) oldest() *entry {
	if len(g.ready) == 0 {
		return nil
	}
	return g.ready[0]
}

// show makes e available.
func (g *group) show(e *entry) { heap.Push(g, e) }

// hide makes e unavailable.
func (g *group) hide(e *entry) { heap.Remove(g, e.pos) }

// Len is part of heap.Interface, as are Less, Swap, Push and Pop.
func (g *group) Len() int           { return len(g.ready) }
func (g *group) Less(i, j int) bool { return g.ready[i].before(g.ready[j]) }

// Swap exchanges two entries.
func (g *group) Swap(i, j int) {
	g.ready[i], g.ready[j] = g.ready[j], g.ready[i]
	g.ready[i].pos, g.ready[j].pos = i, j
}

// Push appends an entry.
func (g *group) Push(x any) {
	e := x.(*entry)
	e.pos = len(g.ready)
	g.ready = append(g.ready, e)
}

// Pop removes the last entry.
func (g *group) Pop() any {
	last := len(g.ready) - 1
	e := g.ready[last]
	g.ready[last] = nil
	g.ready = g.ready[:last]
	e.pos = hidden
	return e
}
