package githubsim

import (
	"cmp"
	"container/heap"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// runnersByID are sorted by id: listing them is most of what is asked of a hub.
type runnersByID []*runner

func (l runnersByID) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(l, id, func(r *runner, id int64) int { return cmp.Compare(r.ID, id) })
}

// get returns the runner of an id, or nil.
func (l runnersByID) get(id int64) *runner {
	if i, ok := l.find(id); ok {
		return l[i]
	}
	return nil
}

func (l *runnersByID) add(r *runner) {
	i, _ := l.find(r.ID)
	*l = slices.Insert(*l, i, r)
}

func (l *runnersByID) remove(id int64) {
	if i, ok := l.find(id); ok {
		*l = slices.Delete(*l, i, i+1)
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

// registry is every registration, and the registered runners by id, name and label.
type registry struct {
	opts     Options
	monitor  *monitor
	lastID   int64
	runners  runnersByID
	names    map[string]*runner   // by folded name
	carriers map[string][]*runner // by folded label, in the order in which they got it
	past     []*registration      // the present ones too, oldest first
	due      endings              // when registrations may end, a heap
}

func (g *registry) get(id int64) *runner { return g.runners.get(id) }

// named returns the runner of a name, or nil.
func (g *registry) named(name string) *runner { return g.names[strings.ToLower(name)] }

// waiting returns the runner that waits for a job of this label and has had it for longest, or nil.
func (g *registry) waiting(label string) *runner {
	all := g.carriers[strings.ToLower(labelsOf(label)[0])]
	if i := slices.IndexFunc(all, func(r *runner) bool { return r.waits() && hasAll(r.keys(), label) }); i >= 0 {
		return all[i]
	}
	return nil
}

// register adds a runner. The caller has checked name and labels.
func (g *registry) register(now time.Time, name, group string, labels []string, jit, ephemeral bool) *runner {
	g.lastID++
	reg := &registration{Registration: Registration{
		ID: g.lastID, Name: name, Group: group, Labels: slices.Clone(labels),
		JIT: jit, Ephemeral: ephemeral, CreatedAt: now.UTC(), Jobs: []string{},
	}}
	r := &runner{registration: reg, secret: rand.Text(), lastSeen: now, idleFrom: now}
	reg.runner = r
	g.runners.add(r)
	g.names[strings.ToLower(name)] = r
	for _, key := range r.keys() {
		g.carriers[key] = append(g.carriers[key], r)
	}
	g.past = append(g.past, reg)
	g.mayEnd(r)
	return r
}

// label adds labels to a runner, those that it has not.
func (g *registry) label(r *runner, labels []string) {
	for _, l := range labels {
		key := strings.ToLower(l)
		if slices.Contains(r.keys(), key) {
			continue
		}
		r.Labels = append(slices.Clone(r.Labels), l)
		g.carriers[key] = append(g.carriers[key], r)
	}
}

// renumber gives a runner the id of another, which is gone.
func (g *registry) renumber(r *runner, id int64) {
	g.runners.remove(r.ID)
	r.ID = id
	g.runners.add(r)
}

// remove ends a registration.
func (g *registry) remove(r *runner, why string, now time.Time) {
	r.Removed, r.RemovedAt = why, now.UTC()
	r.registration.runner = nil
	g.runners.remove(r.ID)
	delete(g.names, strings.ToLower(r.Name))
	for _, key := range r.keys() {
		if i := slices.Index(g.carriers[key], r); i >= 0 {
			g.carriers[key] = slices.Delete(g.carriers[key], i, i+1)
		}
		if len(g.carriers[key]) == 0 {
			delete(g.carriers, key)
		}
	}
}

// mayEnd notes when a runner's registration ends if nothing happens to it.
func (g *registry) mayEnd(r *runner) {
	at := g.endsAt(r)
	if at.IsZero() || !r.looked.IsZero() && !at.Before(r.looked) {
		return // never, or it is looked at before
	}
	r.looked = at
	heap.Push(&g.due, ending{at, r})
	g.monitor.dueBy(at)
}

// ended returns a runner whose time is over, why and since when; nil: there is none.
func (g *registry) ended(now time.Time) (r *runner, why string, at time.Time) {
	for len(g.due) > 0 && !now.Before(g.due[0].at) {
		e := heap.Pop(&g.due).(ending) //nolint:forcetypeassert // ours
		r = e.runner
		if r.registration.runner != r || !e.at.Equal(r.looked) {
			continue // it is gone, or was looked at before
		}
		r.looked = time.Time{}
		at = g.endsAt(r)
		if at.IsZero() || now.Before(at) {
			g.mayEnd(r)
			continue
		}
		why = RemovedPruned
		if r.JIT && g.opts.JITLapse > 0 && !now.Before(r.idleFrom.Add(g.opts.JITLapse)) {
			why = RemovedLapsed
		}
		return r, why, at
	}
	if len(g.due) > 0 {
		g.monitor.dueBy(g.due[0].at)
	}
	return nil, "", time.Time{}
}

// endsAt returns when a runner's registration ends if nothing happens; zero: never.
func (g *registry) endsAt(r *runner) time.Time {
	if r.job != nil {
		return time.Time{}
	}
	var due time.Time
	if r.session == nil {
		due = r.lastSeen.Add(prunedAfter)
		if r.Ephemeral {
			due = r.lastSeen.Add(ephemeralPrunedAfter)
		}
	}
	if r.JIT && g.opts.JITLapse > 0 {
		if lapse := r.idleFrom.Add(g.opts.JITLapse); due.IsZero() || lapse.Before(due) {
			due = lapse
		}
	}
	return due
}

// online reports whether a runner is: see Session.
func (g *registry) online(r *runner, now time.Time) bool {
	s := r.session
	return s != nil && (s.polling > 0 || now.Before(s.seenAt.Add(g.opts.OnlineFor)))
}

func (g *registry) describe(reg *registration, now time.Time) Registration {
	out := reg.Registration
	out.Labels, out.Jobs = slices.Clone(out.Labels), slices.Clone(out.Jobs)
	if r := reg.runner; r != nil {
		out.Online, out.Busy = g.online(r, now), r.job != nil
	}
	return out
}

func (g *registry) list(now time.Time) []githubapi.Runner {
	out := make([]githubapi.Runner, 0, len(g.runners))
	for _, r := range g.runners {
		out = append(out, g.show(r, now))
	}
	return out
}

// show is a runner as a listing shows it. What is shared of its labels never changes: more are another list.
func (g *registry) show(r *runner, now time.Time) githubapi.Runner {
	busy := r.job != nil
	if !r.busyAt.IsZero() && now.Before(r.busyAt.Add(g.opts.BusyLag)) {
		busy = !busy
	}
	return githubapi.Runner{ID: r.ID, Name: r.Name, Online: g.online(r, now), Busy: busy, Labels: slices.Clip(r.Labels)}
}
