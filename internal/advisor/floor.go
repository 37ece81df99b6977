package advisor

import (
	"cmp"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// floor is what keeps machines of a class idle (reconciler/floors.go).
type floor struct {
	reconciler.Floor
	booting int // machines launched for it
}

func (f *floor) configured() bool { return f.Schedule.Most() > 0 || f.Max > 0 }

// keep begins to tend a class's floor, and comes back to it whenever its schedule wants another number.
func (w *world) keep(c *class) {
	w.tend(c)
	if next := c.floor.Schedule.Next(w.clock.now); !next.IsZero() {
		w.at(next, func() { w.keep(c) })
	}
}

// tend brings a floor to where its schedule wants it: it renews, dismisses and launches.
func (w *world) tend(c *class) {
	f, now := c.floor, w.clock.now
	if !f.configured() {
		return
	}
	want, idle := f.Schedule.Min(now), w.keepable(c)
	for _, m := range idle[:min(want, len(idle))] {
		w.renew(m)
	}
	if f.Max > 0 && len(idle) > f.Max {
		for _, m := range idle[f.Max:] {
			if w.pooled[m.ticket.InstanceID] == m {
				w.end(m, statemachine.Dismissed)
			}
		}
	}
	if len(c.waiting) > 0 {
		return // requests come first
	}
	short := want - len(idle) - f.booting
	for range min(short, w.room(c)-w.short()) {
		w.launchAhead(c)
	}
}

// keepable are the machines that a floor counts on, the youngest first: those in the pool and on their way to it, but for those that
// are to be replaced.
func (w *world) keepable(c *class) []*machine {
	var out []*machine
	q := w.cfg.FloorQuery(c.name)
	add := func(m *machine) {
		if m.class == c && q.Matches(m.ticket) && w.clock.now.Before(w.cfg.Retired(c.floor.Floor, m.began)) {
			out = append(out, m)
		}
	}
	for _, m := range w.pooled {
		add(m)
	}
	for _, m := range c.returning {
		add(m)
	}
	slices.SortFunc(out, func(a, b *machine) int {
		return cmp.Or(b.began.Compare(a.began), cmp.Compare(a.ticket.InstanceID, b.ticket.InstanceID))
	})
	return out
}

// renew extends a machine of the pool in a short step, once half of one is left, and never past its greatest age.
func (w *world) renew(m *machine) {
	c, now := m.class, w.clock.now
	step, most := w.cfg.FloorStep(c.name), m.began.Add(c.floor.MaxAge)
	if w.pooled[m.ticket.InstanceID] != m || !most.After(m.threshold) {
		return
	}
	if due := m.threshold.Add(-step / 2); now.Before(due) {
		if m.due != due {
			m.due = due
			w.at(due, func() { w.tend(c) })
		}
		return
	}
	until := now.Add(step)
	if until.After(most) {
		until = most
	}
	if !until.After(m.threshold) {
		return
	}
	w.moves(m, statemachine.Renewed)
	m.threshold = until
	w.pickup.Drop(m.ticket.InstanceID)
	m.ticket.Threshold = until
	w.pickup.Put(m.ticket)
	w.look(m)
	w.renew(m) // to be looked at in time
}

// launchAhead launches a machine for a floor: once it has booted it goes to the pool as one that was given back.
func (w *world) launchAhead(c *class) {
	c.floor.booting++
	m := w.launch(c, c.floor.UsageClasses[0], c.waits.common)
	w.at(w.clock.now.Add(c.waits.usual()), func() {
		c.floor.booting--
		w.moves(m, statemachine.Unclaimed)
		w.clean([]*machine{m})
	})
}

// short is how many machines all that wait are short of.
func (w *world) short() (n int) {
	for _, c := range w.classes {
		for _, r := range c.waiting {
			n += r.missing
		}
	}
	return n
}

// makeRoom ends the oldest idle machine of a floor that stands below a cap in the way of a request, which cannot use it, and reports
// whether it found one.
func (w *world) makeRoom(r *request) bool {
	own := w.cfg.Classes[r.Class].Cap > 0 && r.class.live >= w.cfg.Classes[r.Class].Cap
	var oldest *machine
	for _, m := range w.pooled {
		if m.class.floor.configured() && (!own || m.class == r.class) && !w.usable(m) && !r.query.Matches(m.ticket) &&
			(oldest == nil || m.began.Before(oldest.began) || m.began.Equal(oldest.began) && m.ticket.InstanceID < oldest.ticket.InstanceID) {
			oldest = m
		}
	}
	if oldest != nil {
		w.drop(oldest, statemachine.Dismissed)
	}
	return oldest != nil
}

// usable reports whether a request that waits could use a machine.
func (w *world) usable(m *machine) bool {
	for _, c := range w.classes {
		if slices.ContainsFunc(c.waiting, func(r *request) bool { return r.query.Matches(m.ticket) }) {
			return true
		}
	}
	return false
}

// usual is how long a machine takes that is launched for a floor: what is usual of those launched for requests.
func (c waits) usual() time.Duration {
	if len(c.cold) == 0 {
		return usualBoot
	}
	return c.cold[len(c.cold)/2]
}

// commonest is the type that most machines of a class had.
func commonest(wanted []store.Wanted, class string) string {
	counts, out := map[string]int{}, "-"
	for _, w := range wanted {
		if w.Class == class && w.Type != "" {
			if counts[w.Type] += w.Count; counts[w.Type] > counts[out] {
				out = w.Type
			}
		}
	}
	return out
}
