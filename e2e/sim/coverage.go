package sim

import (
	"slices"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Coverage is what of the tables and of all orders of writes a story went through, and how often.
type Coverage struct {
	Edges  map[Edge]int
	Orders map[Order]int

	last map[string]written // by partition
}

// Edge is one row of a table.
type Edge struct{ Table, From, On, To string }

// String writes the edge with the event that leads along it.
func (e Edge) String() string {
	return e.Table + ":" + e.From + ">" + e.To + " (" + e.On + ")"
}

// Edges returns every row of both tables.
func Edges() []Edge {
	var out []Edge
	for _, r := range statemachine.Rules() {
		out = append(out, instanceEdge(r.From, r.On, r.To))
	}
	for _, r := range statemachine.RequestRules() {
		out = append(out, requestEdge(r.From, r.On, r.To))
	}
	return out
}

func instanceEdge(from statemachine.State, on statemachine.Event, to statemachine.State) Edge {
	return Edge{"Instance", string(from), string(on), string(to)}
}

func requestEdge(from statemachine.Phase, on statemachine.RequestEvent, to statemachine.Phase) Edge {
	return Edge{"RunStatus", string(from), string(on), string(to)}
}

// Order is that one process wrote about an instance or a run, and another one wrote next. What goes on in the
// background does not count.
type Order struct{ First, Then Write }

// Back is the order of the same two writes the other way round.
func (o Order) Back() Order { return Order{o.Then, o.First} }

func (o Order) String() string {
	return string(o.First.Role) + "/" + o.First.What + ", " + string(o.Then.Role) + "/" + o.Then.What
}

// Write is a change of one record, by a process of a role.
type Write struct {
	Role Role
	What string
}

// written is a write and who made it.
type written struct {
	Write

	by string
}

// instance notes an applied write of an instance.
func (c *Coverage) instance(was, in store.Instance) {
	for _, r := range instanceRules {
		if r.From == was.State && r.To == in.State && r.On == instanceEvent(was, in) {
			c.Edges[instanceEdge(r.From, r.On, r.To)]++
		}
	}
}

// status notes an applied write of a status.
func (c *Coverage) status(was, st store.RunStatus) {
	from := was.Phase
	if st.Attempt != was.Attempt {
		from = statemachine.Unseen // a higher attempt starts there again
	}
	for _, r := range requestRules {
		if r.From == from && r.To == st.Phase {
			c.Edges[requestEdge(r.From, r.On, r.To)]++
		}
	}
}

// The tables, without a copy for each write.
var (
	instanceRules = statemachine.Rules()
	requestRules  = statemachine.RequestRules()
)

// instanceEvent tells what happened from what it brought: "" if the table has nothing to do with it.
func instanceEvent(was, in store.Instance) statemachine.Event {
	switch {
	case was.State == in.State && was.PooledAt.IsZero() && !in.PooledAt.IsZero():
		return statemachine.Pooled
	case was.State == in.State && !was.Threshold.Equal(in.Threshold):
		return statemachine.Renewed
	case was.State == in.State:
		return ""
	case in.State != statemachine.Terminated:
		for _, r := range instanceRules {
			if r.From == was.State && r.To == in.State {
				return r.On // the only one
			}
		}
		return ""
	}
	switch in.Reason {
	case statemachine.ReasonThreshold:
		return statemachine.Expired
	case statemachine.ReasonGone, statemachine.ReasonSilent:
		return statemachine.Lost
	case statemachine.ReasonDismissed:
		return statemachine.Dismissed
	}
	return statemachine.Rejected
}

// background are records that are written all the time, whatever happens.
var background = []string{store.KindHeartbeat, store.KindRunClient, store.KindLease}

// ordered notes an applied write of p, and what another process wrote just before about the same thing.
func (t *truth) ordered(p *process, k store.Key, what string) {
	if slices.Contains(background, k.Sort) {
		return
	}
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	c := &t.coverage
	last, known := c.last[k.Partition]
	now := written{Write{p.role, what}, p.name}
	if known && last.by != now.by {
		c.Orders[Order{last.Write, now.Write}]++
	}
	c.last[k.Partition] = now
}
