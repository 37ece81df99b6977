package reconciler

import (
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// index is the pool of a tenure: the candidates among the instances, and who waits for one.
type index struct {
	*tenure
	*records
	pickup    *pool.Pickup
	waiting   *waiting
	templates sync.Map   // by class, the version a machine launched now would get; absent: unknown
	mu        sync.Mutex // held from the reading of a record to the change of the pickup
}

// claimable counts the machines, at most n, that are there for a request which waits for a launch: they were pooled after
// it had looked, and its next look is late.
func (x *index) claimable(r run, w want, n int) int {
	if n <= 0 || x.pickup.Count(w.query) == 0 {
		return 0
	}
	older := x.waiting.ahead(waiter{id: w.id, since: w.since, query: w.query}, false)
	return x.pickup.Takeable(w.query, attemptKey(r), n, reserve(older))
}

// look follows a message of the pool: the record decides.
func (x *index) look(id string) {
	x.instances.with(store.InstanceID(id), func(in *instance) { in.offered = !in.record.PooledAt.IsZero() })
	x.changed(store.InstanceID(id))
}

// changed brings the pickup index in step with an instance.
func (x *index) changed(id store.InstanceID) {
	x.mu.Lock() // between two calls the older record must not win
	defer x.mu.Unlock()
	s, ok := x.instances.get(id)
	if !ok {
		x.pickup.Drop(string(id))
		return
	}
	if ticket, ok := x.candidate(s); ok {
		if x.pickup.Put(ticket) {
			x.offer(ticket)
		}
		return
	}
	x.pickup.Drop(string(id))
}

// offer wakes the oldest request that can use an instance.
func (x *index) offer(ticket pool.Ticket) {
	if id, ok := x.waiting.oldest(ticket); ok {
		x.queues.requests.Add(id)
	}
}

// forgetLooks lets an attempt look at every candidate again.
func (x *index) forgetLooks(r run) { x.pickup.Forget(attemptKey(r)) }

// candidate returns the ticket of an instance that may be claimed: idle, pooled, healthy, not
// expired, of the current template and with no order to go.
func (x *index) candidate(s snapshot) (pool.Ticket, bool) {
	now := x.clock.Now()
	if !s.stored.missingSince.IsZero() || s.stored.undecodable { // no claim of it can be written
		return pool.Ticket{}, false
	}
	if s.State != statemachine.Idle || s.PooledAt.IsZero() || !s.Threshold.After(now) || !s.vitals.fresh || s.Ahead() && s.busy() || x.unwanted(s.Instance, s.vitals, now) {
		return pool.Ticket{}, false
	}
	return ticketOf(s.Instance), true
}

// unwanted reports whether an idle instance should go: ordered to, about to be interrupted, of an
// older template of its class, or of a class that is no longer configured.
func (x *index) unwanted(in store.Instance, said vitals, now time.Time) bool {
	_, configured := x.cfg.Classes[in.ResourceClass]
	current, known := x.templates.Load(in.ResourceClass)
	ordered, _ := x.orders.dismissed(in, now)
	return ordered || !configured || said.beat.Beat.Interrupted || known && current != in.TemplateVersion
}

// ticketOf describes a pooled instance by its record.
func ticketOf(in store.Instance) pool.Ticket {
	return pool.Ticket{
		InstanceID: string(in.ID), UsageClass: in.UsageClass, InstanceType: in.InstanceType, CPU: in.CPU,
		Mem: in.Mem, ResourceClass: in.ResourceClass, Threshold: in.Threshold.Time,
	}
}

// whyUnwanted returns why an unwanted idle instance must terminate.
func (x *index) whyUnwanted(in store.Instance, said vitals, now time.Time) string {
	_, configured := x.cfg.Classes[in.ResourceClass]
	ordered, _ := x.orders.dismissed(in, now)
	switch {
	case ordered:
		return whyDrained
	case !configured:
		return "its class is no longer configured"
	case said.beat.Beat.Interrupted:
		return "interruption notice"
	}
	return "of another launch template version"
}
