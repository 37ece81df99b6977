package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// term is one tenure of leadership: everything the reconcilers share. It begins with an empty view
// and is dropped as a whole, so that nothing of an old tenure can leak into the next.
type term struct {
	cfg    Config
	store  *store.Store
	fleet  fleet.Fleet
	github GitHub
	clock  clock.WithTicker
	log    *slog.Logger

	number  int64       // of the lease; it only grows
	trusted func() bool // whether anything may be done outside; the contracts ask, too

	// writable says since when the store has taken our writes without a gap. While it does not, agents
	// cannot report either, so nobody's silence counts from before.
	writable func() time.Time
	astray   func() time.Duration // how far clock is from the store's time

	view    *view
	pickup  *pool.Pickup
	waiting *waiting
	batch   *batch
	refused *exclusions
	metrics *Metrics

	intending chan struct{} // holds one from the check of the caps to the record of the launch
	indexing  sync.Mutex    // held from the reading of the view to the change of the index
	orphans   sightings     // machines without a record, by id
	lacking   atomic.Bool   // the fleet's listing lacks too many machines to be believed in that
	strays    sightings     // runners without an owner, by name
	unended   refusals      // machines whose end the fleet refused
	drains    *drains       // orders that were rung
	damped    *damped       // errors of which there may be any number
	probes    probes        // of those whose listener is not online

	requests  *controller[store.RequestID]
	instances *controller[store.InstanceID]
	launches  *controller[string]
	reaper    *controller[string]
	sweeper   *controller[string]
	drainer   *controller[string]
	keeper    *controller[string]
	announcer *controller[store.InstanceID]

	chores map[string]func(context.Context) error // by name
	loaded atomic.Bool                            // the records were read, and the pool is known
}

// errStale means that the instance moved on between decision and write: nothing was written.
var errStale = fmt.Errorf("decision is out of date: %w", store.ErrConflict)

// transition makes one event happen on one instance. decide sees the current record under the
// instance's lock and returns false if the event is no longer due.
func (t *term) transition(ctx context.Context, id store.InstanceID, decide func(snapshot) (store.Transition, bool)) (snapshot, error) {
	return t.write(ctx, id, func(s snapshot) (store.Instance, error) {
		tr, due := decide(s)
		if !due {
			return s.Instance, errStale
		}
		out, err := t.store.Transition(ctx, s.Instance, tr)
		if err != nil {
			return out, err
		}
		t.metrics.transition(s.State, tr.Event, out.State)
		t.log.Info("transition", logkey.InstanceID, id, logkey.Event, tr.Event, logkey.From, s.State, logkey.To, out.State,
			logkey.RequestID, cmpOr(out.RunID, s.RunID), logkey.Reason, tr.Reason)
		return out, nil
	})
}

// write makes one conditional write of one instance: lock, read the view, write, update the view.
func (t *term) write(ctx context.Context, id store.InstanceID, put func(snapshot) (store.Instance, error)) (snapshot, error) {
	in := t.view.instance(id)
	if in == nil {
		return snapshot{}, fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
	}
	unlock, err := in.lock(ctx, id)
	if err != nil {
		return snapshot{}, err
	}
	defer unlock()
	s, _ := t.view.get(id)
	if s.doubt {
		if err := t.refresh(ctx, s); err != nil {
			return s, err
		}
		s, _ = t.view.get(id)
	}
	out, err := put(s)
	switch {
	case err == nil:
		t.view.apply(out)
	case errors.Is(err, errStale), errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrExpired),
		errors.Is(err, store.ErrNotLeader), errors.Is(err, statemachine.ErrNoRule):
		return s, err // definite: nothing was written
	default:
		t.view.with(id, func(in *instance) { in.doubt = true }) // a conflict, or an outcome that is unknown
		if refreshed := t.refresh(ctx, s); refreshed != nil {
			return s, refreshed // not with err: a conflict would be tried again at once
		}
		return s, err
	}
	t.changed(id)
	t.instances.add(id) // its deadline may have changed; only now does the view show it
	if s.State != statemachine.Terminated && out.State == statemachine.Terminated {
		t.room()
	}
	s, _ = t.view.get(id)
	return s, nil
}

// refresh reads the record of an instance anew. Its lock must be held.
func (t *term) refresh(ctx context.Context, s snapshot) error {
	rec, err := t.store.Instance(ctx, store.Consistent, s.Principal)
	if errors.Is(err, store.ErrNotFound) {
		t.erased(s)
		return fmt.Errorf("instance %s: record has vanished: %w", s.ID, err)
	}
	if err != nil {
		if errors.Is(err, store.ErrInvalid) {
			t.view.with(s.ID, func(in *instance) { in.unread = true })
			t.changed(s.ID)
		}
		return fmt.Errorf("instance %s: %w", s.ID, err)
	}
	t.view.apply(rec)
	t.view.with(s.ID, func(in *instance) { in.doubt, in.unwritten, in.unread = false, time.Time{}, false })
	t.changed(s.ID)
	return nil
}

// lock waits until nobody else writes the instance, which may take as long as the store is unavailable.
func (in *instance) lock(ctx context.Context, id store.InstanceID) (unlock func(), err error) {
	select {
	case in.write <- struct{}{}:
		return func() { <-in.write }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("instance %s: %w", id, context.Cause(ctx))
	}
}

// recheck looks for a record that was missing, until it is there or its machine is ended.
func (t *term) recheck(ctx context.Context, s snapshot) (Result, error) {
	in := t.view.instance(s.ID)
	if in == nil {
		return Result{}, nil
	}
	unlock, err := in.lock(ctx, s.ID)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	err = t.refresh(ctx, s)
	if errors.Is(err, store.ErrNotFound) {
		err = errors.Join(err, t.endUnrecorded(ctx, s.ID))
	}
	return Result{}.sooner(time.Millisecond), err
}

// erased notes that the record of an instance is missing: its agent, which may set the expiry of any item of its own,
// or somebody else took it away. It is forgotten if its machine is gone, too.
func (t *term) erased(s snapshot) {
	if s.vitals.cloud == statemachine.Gone {
		t.view.drop(s.ID) // neither machine nor record: nothing is left to hold
		t.room()
		return
	}
	now, news := t.clock.Now(), false
	t.view.with(s.ID, func(in *instance) {
		if news = in.unwritten.IsZero(); news {
			in.unwritten = now
		}
	})
	t.changed(s.ID) // nothing may be claimed of it
	if news {
		t.instances.add(s.ID) // which ends its machine in time
	}
}

// endUnrecorded ends the machine of an instance whose record stays missing: without one it has no threshold, so it is
// a machine that nobody knows.
func (t *term) endUnrecorded(ctx context.Context, id store.InstanceID) error {
	s, known := t.view.get(id)
	if !known || s.unwritten.IsZero() || t.clock.Since(s.unwritten) < t.cfg.Orphan || t.braked() {
		return nil
	}
	t.log.Warn("terminating a machine without a record", logkey.InstanceID, id, logkey.RequestID, s.RunID)
	if err := t.fleet.Terminate(ctx, string(id)); err != nil {
		return fmt.Errorf("instance %s: %w", id, err)
	}
	return nil
}

// changed brings the pickup index in step with an instance.
func (t *term) changed(id store.InstanceID) {
	t.indexing.Lock() // between two calls the older view must not win
	defer t.indexing.Unlock()
	s, ok := t.view.get(id)
	if !ok {
		return
	}
	if ticket, ok := t.candidate(s); ok {
		if t.pickup.Put(ticket) {
			t.offer(ticket)
		}
		return
	}
	t.pickup.Drop(string(id))
}

// offer wakes the oldest request that can use an instance.
func (t *term) offer(ticket pool.Ticket) { t.waiting.wake(ticket, t.requests.add) }

// forgetLooks lets an attempt look at every candidate again.
func (t *term) forgetLooks(r run) { t.pickup.Forget(who(r)) }

// candidate returns the ticket of an instance that may be claimed: idle, pooled, healthy, not
// expired, of the current template and with no order to go.
func (t *term) candidate(s snapshot) (pool.Ticket, bool) {
	now := t.clock.Now()
	if !s.unwritten.IsZero() || s.unread { // no claim of it can be written
		return pool.Ticket{}, false
	}
	if s.State != statemachine.Idle || s.PooledAt.IsZero() || !s.Threshold.After(now) || !s.vitals.fresh || t.unwanted(s, now) {
		return pool.Ticket{}, false
	}
	return ticketOf(s.Instance), true
}

// ticketOf describes a pooled instance by its record.
func ticketOf(in store.Instance) pool.Ticket {
	return pool.Ticket{
		InstanceID: string(in.ID), UsageClass: in.UsageClass, InstanceType: in.InstanceType, CPU: in.CPU,
		Mem: in.Mem, ResourceClass: in.ResourceClass, Threshold: in.Threshold.Time,
	}
}

// unwanted reports whether an idle instance should go: ordered to, about to be interrupted, of an
// older template, or of a class that is no longer configured.
func (t *term) unwanted(s snapshot, now time.Time) bool {
	t.view.mu.RLock()
	defer t.view.mu.RUnlock()
	return t.unwantedNow(s.Instance, s.vitals, now)
}

// unwantedNow is unwanted with view.mu held.
func (t *term) unwantedNow(in store.Instance, said vitals, now time.Time) bool {
	_, configured := t.cfg.Classes[in.ResourceClass]
	return !configured || said.beat.Beat.Interrupted ||
		t.view.template != "" && in.TemplateVersion != t.view.template || t.view.dismissed(in, now)
}

// cmpOr returns the first that is not empty.
func cmpOr(ids ...store.RequestID) store.RequestID {
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	return ""
}
