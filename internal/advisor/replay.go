// Package advisor replays past requests under other settings. It reads no clock and does no I/O.
package advisor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Assumptions of a replay. The demand does not record how long a cleanup takes (docs/benchmarks.md). It may have no start of a class
// (docs/goals.md).
const (
	cleanup    = 3 * time.Second
	usualClaim = 3 * time.Second
	usualBoot  = 30 * time.Second
)

// Demand is what past requests wanted, and the part of that time which counts. Requests before From fill the pool.
type Demand struct {
	Requests []store.PastRequest // in the order of their instants
	Timeout  time.Duration       // after which a request that lacks instances fails
	From, To time.Time
}

// NewDemand puts requests in order.
func NewDemand(requests []store.PastRequest, timeout time.Duration, from, to time.Time) Demand {
	byTime := func(a, b store.PastRequest) int { return a.At.Compare(b.At) }
	return Demand{slices.SortedFunc(slices.Values(requests), byTime), timeout, from, to}
}

// counts reports whether a request is among those that figures are about.
func (d Demand) counts(p store.PastRequest) bool { return !p.At.Before(d.From) && p.At.Before(d.To) }

// span is how much of the time that counts lies between two instants.
func (d Demand) span(from, to time.Time) time.Duration {
	return max(0, earlier(to, d.To).Sub(later(from, d.From)))
}

// world is the installation of one replay.
type world struct {
	cfg     reconciler.Config
	demand  Demand
	now     time.Time
	classes []*class
	waiting []*request // for room below the caps, the oldest first
}

// class is a resource class of the world.
type class struct {
	reconciler.Class
	name       string
	idle       time.Duration // the idle limit
	step       time.Duration // by which minimum idle renews an instance
	life       time.Duration // after which minimum idle replaces it
	figures    *Figures
	machines   []*machine      // that live
	warm, cold []time.Duration // how long starts took, in order
	common     store.DemandKind
}

// machine is an instance. While a request has it that is not ready, it is released, pooled and ended at an instant that never comes.
type machine struct {
	kind     store.DemandKind // of the request for which it was launched, or of most of its class
	began    time.Time
	released time.Time // it can be assigned from then on
	pooled   time.Time // it is clean from then on
	expires  time.Time
	warm     bool      // of the request that has it
	claimed  time.Time // zero: launched for minimum idle, and no request has had it
	ready    time.Time
}

// request is one in the replay.
type request struct {
	store.PastRequest
	class        *class
	usage, types []string
	machines     []*machine
}

var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Replay returns the figures of each class under the settings of a controller. Instances neither fail nor drift in a replay, and a
// request that failed takes none.
func Replay(cfg reconciler.Config, d Demand) map[string]*Figures {
	w, out := &world{cfg: cfg, demand: d, now: d.From}, map[string]*Figures{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Classes)) {
		w.classes = append(w.classes, newClass(cfg, d, name))
		out[name] = w.classes[len(w.classes)-1].figures
	}
	if len(d.Requests) > 0 {
		w.now = earlier(d.From, d.Requests[0].At)
	}
	due := w.reconcile()
	for _, p := range append(slices.Clip(d.Requests), store.PastRequest{At: d.To}) {
		for at := earlier(p.At, d.To); due.Before(at); {
			w.now = due
			due = w.reconcile()
		}
		i := slices.IndexFunc(w.classes, func(c *class) bool { return c.name == p.Class })
		if i < 0 || !p.At.Before(d.To) {
			continue
		}
		if w.now = p.At; !p.Failed {
			w.waiting = append(w.waiting, &request{PastRequest: p, class: w.classes[i], usage: strings.Split(p.Usage, ","), types: strings.Split(p.Types, ",")})
			due = w.reconcile()
		} else if d.counts(p) {
			w.classes[i].figures.Failed++
		}
	}
	w.now = d.To
	for _, r := range w.waiting {
		w.drop(r)
	}
	w.now = never
	w.expire()
	return out
}

func newClass(cfg reconciler.Config, d Demand, name string) *class {
	c, kinds := &class{Class: cfg.Classes[name], name: name, idle: cfg.LimitsOf(name).Idle, figures: &Figures{}}, map[store.DemandKind]int{}
	c.step, c.life = cfg.FloorStep(name), cfg.Retired(c.Floor, d.From).Sub(d.From)
	for _, p := range d.Requests {
		if p.Class != name || p.Failed {
			continue
		}
		if kinds[p.DemandKind] += p.Count; kinds[p.DemandKind] > kinds[c.common] {
			c.common = p.DemandKind
		}
		if p.Warm == p.Count {
			c.warm = append(c.warm, p.Waited)
		} else {
			c.cold = append(c.cold, p.Waited)
		}
	}
	if len(c.warm) == 0 {
		c.warm = []time.Duration{usualClaim}
	}
	if len(c.cold) == 0 {
		c.cold = []time.Duration{usualBoot}
	}
	slices.Sort(c.warm)
	slices.Sort(c.cold)
	return c
}

// reconcile ends instances, drops and serves the requests that wait, and keeps minimum idle. It returns when it is due again without a
// new request.
func (w *world) reconcile() time.Time {
	w.expire()
	w.waiting = slices.DeleteFunc(w.waiting, func(r *request) bool {
		late := !w.deadline(r).After(w.now)
		if late {
			w.drop(r)
		}
		return late
	})
	var waiting []*request
	blocked := map[store.DemandKind]bool{} // an older request of the kind waits
	for _, r := range w.waiting {
		kind := store.DemandKind{Class: r.Class, Usage: r.Usage, Types: r.Types}
		if blocked[kind] || !w.serve(r) {
			blocked[kind] = true
			waiting = append(waiting, r)
		}
	}
	due := never
	if len(waiting) > 0 && len(waiting) < len(w.waiting) {
		due = w.now // what those that are served no longer wait for can be in the way of others
	}
	w.waiting = waiting
	for _, r := range waiting {
		due = earlier(due, w.deadline(r))
	}
	for _, c := range w.classes {
		if c.keeps() {
			if w.keep(c) {
				due = w.now // the room below the caps is for others
			}
			if next := c.Floor.Schedule.Next(w.now); !next.IsZero() {
				due = earlier(due, next)
			}
		}
		if len(waiting) == 0 && !slices.ContainsFunc(w.classes, (*class).keeps) {
			continue // nothing waits for room
		}
		for _, m := range c.machines {
			for _, at := range []time.Time{m.released, m.pooled, m.expires.Add(-c.step / 2), m.expires, m.began.Add(c.life)} {
				if at.After(w.now) {
					due = earlier(due, at)
				}
			}
		}
	}
	return due
}

// expire ends the instances whose time is over.
func (w *world) expire() {
	for _, c := range w.classes {
		c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool {
			over := !m.expires.After(w.now)
			if over {
				c.figures.Idle += w.demand.span(m.released, m.expires)
			}
			return over
		})
	}
}

// serve gives a request the instances that it lacks. Instances in the pool, or returning to it, come first. Then serve launches new
// instances within the caps. It returns false if the request has to wait.
func (w *world) serve(r *request) bool {
	c, warm, ready := r.class, 0, r.At
	for len(r.machines) < r.Count {
		m := w.pick(r)
		switch {
		case m != nil:
			m.warm, m.claimed = true, later(w.now, m.pooled)
			m.ready = m.claimed.Add(r.took(c.warm, r.Warm == r.Count && m.claimed.Equal(r.At)))
			c.figures.Idle += w.demand.span(m.released, m.claimed)
		case w.room(c) > 0 || w.makeRoom(c):
			m = w.launch(c, r.DemandKind, r.usage[0])
			m.claimed, m.ready = w.now, w.now.Add(r.took(c.cold, r.Warm < r.Count && w.now.Equal(r.At)))
		default:
			return false
		}
		m.released, m.pooled, m.expires = never, never, never
		r.machines = append(r.machines, m)
	}
	for _, m := range r.machines {
		if ready = later(ready, m.ready); m.warm {
			warm++
		}
	}
	w.release(r, ready)
	if w.demand.counts(r.PastRequest) {
		c.figures.add(r.Count, warm, ready.Sub(r.At))
	}
	return true
}

// pick returns the instance that a request gets: of the first usage class that has any, the one that expires first.
func (w *world) pick(r *request) (best *machine) {
	for _, usage := range r.usage {
		for _, m := range r.class.machines {
			if m.kind.Usage == usage && !m.released.After(w.now) && (best == nil || m.expires.Before(best.expires)) && r.allows(m) {
				best = m
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

// allows reports whether an instance has a usage class and a type that a request takes.
func (r *request) allows(m *machine) bool {
	return slices.Contains(r.usage, m.kind.Usage) && (m.kind.Types == r.Types || glob.Any(r.types, m.kind.Type))
}

// deadline is when a request fails if it still lacks instances. A request that waited longer than the timeout had its own, longer timeout.
func (w *world) deadline(r *request) time.Time { return r.At.Add(max(w.demand.Timeout, r.Waited)) }

// drop ends the wait of a request that lacks instances, and releases those that it has.
func (w *world) drop(r *request) {
	r.Held = 0
	w.release(r, w.now)
	if f := r.class.figures; w.demand.counts(r.PastRequest) {
		f.Failed++
		f.Waits = append(f.Waits, w.now.Sub(r.At))
	}
}

// took is how long a start of a request takes: as long as it really took if that was the same start, or else as long as one of its
// class took.
func (r *request) took(starts []time.Duration, same bool) time.Duration {
	if same {
		return r.Waited
	}
	return starts[r.At.Nanosecond()%len(starts)]
}

// release returns the instances of a request to the pool once it has held them, and adds up their time.
func (w *world) release(r *request, ready time.Time) {
	end := ready.Add(r.Held)
	for _, m := range r.machines {
		if !m.warm {
			r.class.figures.Booting += w.demand.span(m.began, ready)
			m.claimed = ready
		}
		r.class.figures.Busy += w.demand.span(m.claimed, end)
		m.free(end, r.class.idle)
	}
}

// free makes an instance idle at an instant.
func (m *machine) free(at time.Time, idle time.Duration) {
	m.released, m.pooled, m.expires = at, at.Add(cleanup), at.Add(cleanup+idle)
}

// launch makes an instance.
func (w *world) launch(c *class, kind store.DemandKind, usage string) *machine {
	m := &machine{kind: kind, began: w.now}
	m.kind.Usage = usage
	c.machines = append(c.machines, m)
	return m
}

// room is how many more instances of a class the caps allow.
func (w *world) room(c *class) int {
	room := w.cfg.MaxInstances
	for _, of := range w.classes {
		room -= len(of.machines)
	}
	if c.Cap > 0 {
		room = min(room, c.Cap-len(c.machines))
	}
	return room
}

// makeRoom ends the oldest idle instance of a minimum idle that is below a cap in the way of a request. It reports whether it found one.
func (w *world) makeRoom(c *class) bool {
	var oldest *machine
	for _, of := range w.classes {
		for _, m := range of.machines {
			inTheWay := of.keeps() && of.keepable(m, w.now) && !m.pooled.After(w.now) && (of == c || c.Cap == 0 || len(c.machines) < c.Cap)
			usable := func(r *request) bool { return r.class == of && len(r.machines) < r.Count && r.allows(m) }
			if inTheWay && (oldest == nil || m.began.Before(oldest.began)) && !slices.ContainsFunc(w.waiting, usable) {
				oldest = m
			}
		}
	}
	if oldest != nil {
		oldest.expires = w.now
		w.expire()
	}
	return oldest != nil
}

// keeps reports whether a class has a minimum idle.
func (c *class) keeps() bool { return c.Floor.Schedule.Most() > 0 || c.Floor.Max > 0 }

// keepable reports whether an instance boots for minimum idle or is idle, and minimum idle keeps instances of its usage class and age.
func (c *class) keepable(m *machine, now time.Time) bool {
	free := m.claimed.IsZero() || !m.released.After(now)
	return free && slices.Contains(c.Floor.UsageClasses, m.kind.Usage) && now.Before(m.began.Add(c.life))
}

// keep brings the minimum idle of a class to what its schedule wants, as reconciler/floors.go does: it renews, ends and launches
// instances. It reports whether it ended any.
func (w *world) keep(c *class) (ended bool) {
	want := c.Floor.Schedule.Min(w.now)
	var idle []*machine // the youngest first
	for _, m := range slices.Backward(c.machines) {
		if c.keepable(m, w.now) {
			idle = append(idle, m)
		}
	}
	oldest := func(m *machine) time.Time { return m.began.Add(c.Floor.MaxAge) }
	due := func(m *machine) bool { return m.expires.Before(oldest(m)) && !w.now.Before(m.expires.Add(-c.step/2)) }
	renews := slices.ContainsFunc(idle[:min(want, len(idle))], due) // all of them, so that their next renewals need one reconcile
	for i, m := range idle {
		if i < want && renews {
			m.expires = later(m.expires, earlier(w.now.Add(c.step), oldest(m)))
		} else if c.Floor.Max > 0 && i >= c.Floor.Max && !m.pooled.After(w.now) {
			m.expires, ended = w.now, true
		}
	}
	w.expire()
	short := min(want-len(idle), w.room(c))
	for _, r := range w.waiting {
		if short -= r.Count - len(r.machines); r.class == c {
			return ended // requests come first
		}
	}
	for range short {
		m := w.launch(c, c.common, c.Floor.UsageClasses[0])
		m.free(w.now.Add(c.cold[len(c.cold)/2]), c.idle)
		c.figures.Booting += w.demand.span(w.now, m.released)
	}
	return ended
}

func later(at ...time.Time) time.Time { return slices.MaxFunc(at, time.Time.Compare) }

func earlier(at ...time.Time) time.Time { return slices.MinFunc(at, time.Time.Compare) }
