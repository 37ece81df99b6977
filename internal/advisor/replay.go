// Package advisor replays what requests wanted against other settings: in virtual time, with the pool's own choice of machines and
// the state machine's own table and limits. It reads no clock and does no I/O.
package advisor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// handshake is how long a machine that was given back is taken to need until it is in the pool again: its runner is deleted, its
// scrub takes about a second (docs/benchmarks.md), and the report is read. What is recorded does not tell it.
const handshake = 3 * time.Second

// Demand is what was wanted, and the part of that time which counts. What came before fills the pool.
type Demand struct {
	Wanted   []store.Wanted // in the order in which it was taken up
	From, To time.Time
	waits    map[string]waits // by class
}

// NewDemand puts what was wanted in order.
func NewDemand(wanted []store.Wanted, from, to time.Time) Demand {
	d := Demand{Wanted: slices.Clone(wanted), From: from, To: to}
	slices.SortFunc(d.Wanted, func(a, b store.Wanted) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Tag, b.Tag)) })
	d.waits = waitsOf(d.Wanted)
	return d
}

// counts reports whether a request is among those that figures are about.
func (d Demand) counts(w store.Wanted) bool { return !w.At.Before(d.From) && w.At.Before(d.To) }

// begin is when a replay does.
func (d Demand) begin() time.Time {
	if len(d.Wanted) > 0 && d.Wanted[0].At.Before(d.From) {
		return d.Wanted[0].At
	}
	return d.From
}

// Replay says what the demand would have come to with the settings of a controller. Machines neither fail nor are replaced in it.
func Replay(cfg reconciler.Config, d Demand) (Result, error) {
	w := newWorld(cfg, d)
	for _, one := range d.Wanted {
		if class := w.classes[one.Class]; class != nil && one.At.Before(d.To) {
			r := &request{Wanted: one, class: class, missing: one.Count, query: w.query(one)}
			w.at(one.At, func() { w.arrive(r) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.classes)) {
		if c := w.classes[name]; c.floor.configured() {
			w.at(d.begin(), func() { w.keep(c) })
		}
	}
	w.run()
	return w.result, w.err
}

// world is the installation of one replay.
type world struct {
	cfg     reconciler.Config
	demand  Demand
	clock   *virtual
	pickup  *pool.Pickup
	events  events
	classes map[string]*class
	pooled  map[string]*machine // by id
	alive   map[*machine]bool
	order   int // of the last event
	made    int
	result  Result
	err     error
}

// class is what is there of one.
type class struct {
	name      string
	limits    statemachine.Limits
	waits     waits
	floor     floor
	live      int
	waiting   []*request // short of machines, the oldest first
	returning []*machine // on their way back to the pool
	figures   *Figures
}

// request is one in the replay.
type request struct {
	store.Wanted
	class    *class
	query    pool.Query
	missing  int // seats without a machine
	ready    int
	warm     int
	machines []*machine
	over     bool
}

func newWorld(cfg reconciler.Config, d Demand) *world {
	w := &world{
		cfg: cfg, demand: d, clock: &virtual{}, classes: map[string]*class{}, pooled: map[string]*machine{}, alive: map[*machine]bool{},
		result: Result{Classes: map[string]*Figures{}},
	}
	w.pickup = pool.NewPickup(nil, w.clock, nil)
	for name := range cfg.Classes {
		f := &Figures{}
		w.result.Classes[name] = f
		w.classes[name] = &class{name: name, limits: cfg.LimitsOf(name), waits: d.waits[name], figures: f, floor: floor{Floor: cfg.Classes[name].Floor}}
	}
	return w
}

// query is what a request needs, in the controller's terms.
func (w *world) query(one store.Wanted) pool.Query {
	c := w.cfg.Classes[one.Class]
	return pool.Query{ResourceClass: one.Class, UsageClasses: one.Usage, AllowedTypes: w.demand.waits[one.Class].allowed(one), CPU: c.CPU, Mem: c.Mem}
}

// arrive takes a request up.
func (w *world) arrive(r *request) {
	w.serve(r)
	if r.missing > 0 {
		r.class.waiting = append(r.class.waiting, r)
	}
	w.tend(r.class) // of what it took
	if r.Failed {
		w.at(r.At.Add(r.Waited), func() { w.giveBack(r) })
	}
}

// serve gives a request what the pool has, waits for what comes back to it, and launches the rest as far as the caps allow
// (reconciler/fill.go). For one that failed nothing could be launched.
func (w *world) serve(r *request) {
	for r.missing > 0 {
		ticket, ok := w.pickup.Take(r.query, "", nil)
		if !ok {
			break
		}
		w.pickup.Drop(ticket.InstanceID)
		m := w.pooled[ticket.InstanceID]
		delete(w.pooled, ticket.InstanceID)
		w.moves(m, statemachine.Claim)
		r.warm++
		w.seat(r, m, r.class.waits.claim(r.Wanted, w.late(r)))
	}
	w.pickup.Forget("")
	if r.missing == 0 || r.Failed {
		return
	}
	coming, due := w.coming(r)
	if coming > 0 {
		w.at(due, func() { w.wake(r.class) })
	}
	for n := r.missing - coming; n > 0 && (w.room(r.class) > 0 || w.makeRoom(r)); n-- {
		w.seat(r, w.launch(r.class, r.Usage[0], r.class.waits.machine(r.Wanted)), r.class.waits.boot(r.Wanted, w.late(r)))
	}
}

// late reports whether a request is served later than it came, so that its own wait in the record is not that of its machines.
func (w *world) late(r *request) bool { return w.clock.now.After(r.At) }

// seat fills a seat with a machine that is ready after a while.
func (w *world) seat(r *request, m *machine, wait time.Duration) {
	r.missing--
	r.machines = append(r.machines, m)
	w.at(w.clock.now.Add(wait), func() {
		if r.ready++; r.ready == r.Count && !r.Failed {
			w.handOver(r)
		}
	})
}

// handOver makes a request Ready: all its machines are.
func (w *world) handOver(r *request) {
	if w.demand.counts(r.Wanted) {
		r.class.figures.add(r.Count, r.warm, w.clock.now.Sub(r.At))
	}
	for _, m := range r.machines {
		w.moves(m, statemachine.HandedOver)
	}
	w.at(w.clock.now.Add(r.Held), func() { w.giveBack(r) })
}

// giveBack gives back what a request has.
func (w *world) giveBack(r *request) {
	if r.over = true; r.Failed && w.demand.counts(r.Wanted) {
		r.class.figures.Failed++
	}
	for _, m := range r.machines {
		if m.state == statemachine.Running {
			w.moves(m, statemachine.Released)
		} else {
			w.moves(m, statemachine.Unclaimed)
		}
	}
	w.clean(r.machines)
}

// clean brings machines of a class back to the pool after the handshake.
func (w *world) clean(machines []*machine) {
	if len(machines) == 0 {
		return
	}
	c := machines[0].class
	c.returning = append(c.returning, machines...)
	w.at(w.clock.now.Add(handshake), func() {
		c.returning = slices.DeleteFunc(c.returning, func(m *machine) bool { return slices.Contains(machines, m) })
		for _, m := range machines {
			w.offer(m)
		}
		w.wake(c)
		w.tend(c)
	})
}

// offer puts a clean machine into the pool, for as long as it may be idle.
func (w *world) offer(m *machine) {
	w.moves(m, statemachine.Pooled)
	w.pooled[m.ticket.InstanceID] = m
	m.ticket.Threshold = m.threshold
	w.pickup.Put(m.ticket)
	w.look(m)
}

// look comes back to an idle machine when something is due.
func (w *world) look(m *machine) {
	until := m.threshold
	w.at(until, func() {
		if w.pooled[m.ticket.InstanceID] != m || !m.threshold.Equal(until) {
			return // claimed meanwhile
		}
		d := statemachine.Decide(statemachine.Facts{State: m.state, Threshold: m.threshold, Pooled: true, Limits: m.class.limits}, w.clock.now)
		w.end(m, d.Event)
		w.tend(m.class)
	})
}

// end ends an idle machine, and serves those that waited for its room.
func (w *world) end(m *machine, event statemachine.Event) {
	w.drop(m, event)
	for _, c := range w.waitingClasses() {
		w.wake(c)
	}
}

// drop takes an idle machine out of the pool and of the world.
func (w *world) drop(m *machine, event statemachine.Event) {
	w.pickup.Drop(m.ticket.InstanceID)
	delete(w.pooled, m.ticket.InstanceID)
	w.moves(m, event)
	delete(w.alive, m)
	m.class.live--
}

// wake serves those of a class that wait, the oldest first.
func (w *world) wake(c *class) {
	line := c.waiting
	c.waiting = nil
	for i, r := range line {
		if !r.over {
			w.serve(r)
		}
		if r.missing > 0 && !r.over {
			c.waiting = append(c.waiting, r)
			if w.pickup.Count(r.query) == 0 && w.room(c) == 0 {
				c.waiting = append(c.waiting, line[i+1:]...)
				return
			}
		}
	}
}

func (w *world) waitingClasses() []*class {
	var out []*class
	for _, c := range w.classes {
		if len(c.waiting) > 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *class) int {
		return cmp.Or(a.waiting[0].At.Compare(b.waiting[0].At), cmp.Compare(a.name, b.name))
	})
	return out
}

// coming counts the machines on their way back that a request can use and no older one needs, and says until when to wait for
// them: no longer than a claim may take (ADR 0004).
func (w *world) coming(r *request) (int, time.Time) {
	n, due := 0, time.Time{}
	for _, m := range r.class.returning {
		until := m.since.Add(r.class.limits.ClaimGate)
		if !w.clock.now.Before(until) || !r.query.Matches(m.ticket) {
			continue
		}
		if n++; due.IsZero() || until.Before(due) {
			due = until
		}
	}
	for _, older := range r.class.waiting {
		if older == r {
			break
		}
		n -= older.missing
	}
	return min(max(n, 0), r.missing), due
}

// room is how many more machines of a class the caps allow.
func (w *world) room(c *class) int {
	left := w.cfg.MaxInstances - len(w.alive)
	if own := w.cfg.Classes[c.name].Cap; own > 0 {
		left = min(left, own-c.live)
	}
	return max(0, left)
}

// launch makes a machine of a class.
func (w *world) launch(of *class, usage, instanceType string) *machine {
	w.made++
	of.live++
	c := w.cfg.Classes[of.name]
	m := &machine{class: of, began: w.clock.now, since: w.clock.now, ticket: pool.Ticket{
		InstanceID: strconv.Itoa(w.made), UsageClass: usage, InstanceType: instanceType, CPU: c.CPU, Mem: c.Mem, ResourceClass: of.name,
	}}
	w.alive[m] = true
	w.moves(m, statemachine.Launched)
	return m
}

// moves makes an event happen on a machine, by the table.
func (w *world) moves(m *machine, event statemachine.Event) {
	next, err := statemachine.Next(m.state, event)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("replay at %s: %w", w.clock.now, err)
	}
	m.class.figures.spend(m.state, span(m.since, w.clock.now, w.demand.From, w.demand.To))
	m.state, m.since, m.threshold = next, w.clock.now, w.clock.now.Add(m.class.limits.For(next))
}
