package githubsim

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// registry is every registered runner, in the order of ids: listing them is most of what is asked of a hub.
type registry []*runner

func (g registry) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(g, id, func(r *runner, id int64) int { return cmp.Compare(r.ID, id) })
}

// get returns the runner of an id, or nil.
func (g registry) get(id int64) *runner {
	if i, ok := g.find(id); ok {
		return g[i]
	}
	return nil
}

func (g *registry) add(r *runner) {
	i, _ := g.find(r.ID)
	*g = slices.Insert(*g, i, r)
}

func (g *registry) remove(id int64) {
	if i, ok := g.find(id); ok {
		*g = slices.Delete(*g, i, i+1)
	}
}

// ending is an instant at which a registration may end. What happens to the runner meanwhile may put its end off,
// and then it is looked at for nothing.
type ending struct {
	at     time.Time
	runner *runner
}

// endings is a heap of them, the first one on top.
type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) } //nolint:forcetypeassert // ours
func (e *endings) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// mayEnd notes when a runner's registration ends if nothing happens to it. The caller holds the lock.
func (h *Hub) mayEnd(r *runner) {
	at := h.runnerDue(r)
	if at.IsZero() || !r.looked.IsZero() && !at.Before(r.looked) {
		return // never, or it is looked at before
	}
	r.looked = at
	heap.Push(&h.due, ending{at, r})
	h.dueBy(at)
}

// endRunners ends the registrations whose time is over. The caller holds the lock.
func (h *Hub) endRunners(now time.Time) {
	for len(h.due) > 0 && !now.Before(h.due[0].at) {
		e := heap.Pop(&h.due).(ending) //nolint:forcetypeassert // ours
		r := e.runner
		if r.registration.runner != r || !e.at.Equal(r.looked) {
			continue // it is gone, or was looked at before
		}
		r.looked = time.Time{}
		at := h.runnerDue(r)
		if at.IsZero() || now.Before(at) {
			h.mayEnd(r)
			continue
		}
		why := RemovedPruned
		if r.JIT && h.opts.JITLapse > 0 && !now.Before(r.idleFrom.Add(h.opts.JITLapse)) {
			why = RemovedLapsed
		}
		h.remove(r, why, at)
	}
	if len(h.due) > 0 {
		h.dueBy(h.due[0].at)
	}
}
