package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// cache is what a tenure knows of the store, and its one way to write an instance: what is written through is known,
// what was not is read again, and the keys that it concerns are woken.
type cache struct {
	*tenure
	*records
	store    *store.Store
	index    *index
	capacity *capacity
	budget   *budget
	causes   *causes
	counting counting
}

func newCache(t *tenure, table *store.Store, pickup *pool.Pickup, line *waiting, wants *batch) *cache {
	known, month := newRecords(), &budget{tenure: t}
	c := &cache{
		tenure: t, records: known, store: table, budget: month, causes: newCauses(),
		index:    &index{tenure: t, records: known, pickup: pickup, waiting: line},
		capacity: &capacity{tenure: t, records: known, waiting: line, batch: wants, budget: month},
	}
	known.instances.removed, line.eased = c.removed, c.capacity.feed
	return c
}

// applied wakes the workers that depend on a changed instance record.
func (c *cache) applied(was, is store.Instance) {
	c.index.changed(is.ID)
	c.queues.instances.Add(is.ID) // the deadline may have changed, and only now does the cache show the new one
	if was.State != statemachine.Terminated && is.State == statemachine.Terminated {
		c.capacity.freed()
	}
	c.noteFloor(was, is)
}

// read stores an instance record that was just read. If the record is newer than the cached one, an unconfirmed write took effect. No other
// code wakes the requests that wait for that write.
func (c *cache) read(rec store.Instance) {
	was, replaced := c.instances.apply(rec)
	if !replaced {
		return
	}
	c.applied(was, rec)
	for _, id := range []store.RequestID{was.RunID, rec.RunID} {
		if id != "" {
			c.queues.requests.Add(id)
		}
	}
}

// removed wakes the workers that depend on a deleted instance record.
func (c *cache) removed(in store.Instance) {
	c.index.changed(in.ID)
	c.queues.instances.Add(in.ID) // release the resources of the instance
	if in.State == statemachine.Terminated {
		return
	}
	c.capacity.freed()
	if in.RunID != "" {
		c.queues.requests.Add(in.RunID)
	}
	if c.cfg.Classes[in.ResourceClass].Floor.configured() {
		c.queues.floors.AddAfter(in.ResourceClass, floorPause)
	}
}

// errStale means that the instance moved on between decision and write: nothing was written.
var errStale = fmt.Errorf("decision is out of date: %w", store.ErrConflict)

// ignoreStale turns "no longer due" into success.
func ignoreStale(err error) error {
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}

// leaving reports whether an owned instance is on its way back to the pool: its run is over, or its
// runner was deleted at GitHub.
func (c *cache) leaving(s snapshot) bool {
	if _, floor := s.RunID.Floor(); floor {
		return false
	}
	return s.State.Owned() && (!c.requests.alive(s.RunID, s.Attempt) || s.unregistered())
}

// wants reports whether a seat of a launch may still use instances: of a request that lives, or of a floor that is configured.
func (c *cache) wants(seat store.LaunchSeat) bool {
	if class, floor := seat.RequestID.Floor(); floor {
		return c.floorWants(class, c.clock.Now()) > 0
	}
	return c.requests.alive(seat.RequestID, seat.Attempt)
}

// floorWants is how many machines the floor of a class wants at an instant: none while the budget has them off.
func (c *cache) floorWants(class string, now time.Time) int {
	f := c.cfg.Classes[class].Floor
	if !c.budget.off().keeps(f) {
		return 0
	}
	return f.wanted(now)
}

// extra reports whether an instance came for a request that is complete without it.
func (c *cache) extra(s snapshot) bool {
	r, ok := c.requests.getRun(s.RunID)
	if !ok || r.request == nil || r.status == nil || r.status.Phase != statemachine.Ready || s.State == statemachine.Running {
		return false
	}
	running := 0
	c.instances.eachHeld(s.RunID, func(other *instance) {
		if other.record.State == statemachine.Running {
			running++
		}
	})
	return running >= r.request.Count
}

// templateIs notes that the fleet has just named the version that a new machine of a class would get.
func (c *cache) templateIs(class, version string) {
	if was, known := c.index.templates.Swap(class, version); !known || was != version {
		c.wakeAll(func(in *instance) bool {
			return in.record.State == statemachine.Idle && in.record.ResourceClass == class
		})
	}
}

// wakeAll adds every instance that matches.
func (c *cache) wakeAll(match func(*instance) bool) {
	var ids []store.InstanceID
	c.instances.each(func(in *instance) {
		if match(in) {
			ids = append(ids, in.record.ID)
		}
	})
	slices.Sort(ids) // a map has no order; with one, the same events have the same consequences
	for _, id := range ids {
		c.queues.instances.Add(id)
	}
}

// transition makes one event happen on one instance. decide sees the current record under the
// instance's lock and returns false if the event is no longer due.
func (c *cache) transition(ctx context.Context, id store.InstanceID, decide func(snapshot) (store.Transition, bool)) (snapshot, error) {
	return c.write(ctx, id, func(s snapshot) (store.Instance, error) {
		tr, due := decide(s)
		if !due {
			return s.Instance, errStale
		}
		tr.Limits, tr.Now = c.cfg.LimitsOf(s.ResourceClass), c.counting.date(tr.Now)
		out, err := c.store.Transition(ctx, s.Instance, tr)
		if err != nil {
			return out, err
		}
		c.log.Info("instance changed state", logkey.InstanceID, id, logkey.Event, tr.Event, logkey.From, s.State, logkey.To, out.State,
			logkey.RequestID, cmp.Or(out.RunID, s.RunID), logkey.Reason, tr.Reason, logkey.Detail, tr.Detail)
		c.recorder.Transitioned(s.Instance, out, tr.Event)
		if tr.Event == statemachine.HandedOver {
			c.causes.over(startOf(out.ResourceClass))
		}
		return out, nil
	})
}

// write makes one conditional write of one instance: lock, read the cache, write, update the cache.
func (c *cache) write(ctx context.Context, id store.InstanceID, put func(snapshot) (store.Instance, error)) (snapshot, error) {
	in := c.instances.instance(id)
	if in == nil {
		return snapshot{}, fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
	}
	end, landed := c.counting.begin(c.clock.Now()), true
	defer func() { end(landed, c.clock.Now()) }()
	unlock, err := in.lock(ctx, id)
	if err != nil {
		return snapshot{}, err
	}
	defer unlock()
	s, _ := c.instances.get(id)
	if s.stored.outcomeUnknown {
		if err := c.refresh(ctx, s); err != nil {
			return s, err
		}
		s, _ = c.instances.get(id)
	}
	writing := s
	writing.History = s.noted.onto(s.History, s.CreatedAt)
	out, err := put(writing)
	switch {
	case err == nil:
		c.instances.apply(out)
		c.instances.with(id, func(in *instance) { in.noted, in.stored.unconfirmed = in.noted.without(s.noted), 0 })
	case errors.Is(err, errStale), errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrExpired),
		errors.Is(err, store.ErrNotLeader), errors.Is(err, statemachine.ErrNoRule):
		return s, err // definite: nothing was written
	default:
		landed = false
		c.instances.with(id, func(in *instance) { // a conflict, or a write whose outcome is unknown
			if in.stored.outcomeUnknown = true; errors.Is(err, store.ErrUnconfirmed) {
				in.stored.unconfirmed++
			}
		})
		if refreshed := c.refresh(ctx, s); refreshed != nil {
			return s, refreshed // not with err: a conflict would be tried again at once
		}
		return s, err
	}
	c.applied(s.Instance, out)
	s, _ = c.instances.get(id)
	return s, nil
}

// refresh reads the record of an instance anew. Its lock must be held.
func (c *cache) refresh(ctx context.Context, s snapshot) error {
	rec, err := c.store.Instance(ctx, store.Consistent, s.Principal)
	if errors.Is(err, store.ErrNotFound) {
		c.recordMissing(s)
		return fmt.Errorf("instance %s: record has vanished: %w", s.ID, err)
	}
	if err != nil {
		if errors.Is(err, store.ErrInvalid) {
			c.instances.with(s.ID, func(in *instance) { in.stored.undecodable = true })
			c.index.changed(s.ID)
		}
		return fmt.Errorf("instance %s: %w", s.ID, err)
	}
	c.read(rec)
	c.instances.with(s.ID, func(in *instance) {
		in.stored.outcomeUnknown, in.stored.missingSince, in.stored.undecodable = false, time.Time{}, false
	})
	c.index.changed(s.ID)
	return nil
}

// recordMissing notes that the record of an instance is missing: its agent, which may set the expiry of any item of its own,
// or someone else took it away. It is forgotten if its machine is gone, too.
func (c *cache) recordMissing(s snapshot) {
	if s.machine.cloud == statemachine.Gone {
		c.instances.drop(s.ID) // neither machine nor record: nothing is left to hold
		return
	}
	now, news := c.clock.Now(), false
	c.instances.with(s.ID, func(in *instance) {
		if news = in.stored.missingSince.IsZero(); news {
			in.stored.missingSince = now
		}
	})
	c.index.changed(s.ID) // nothing may be claimed of it
	if news {
		c.queues.instances.Add(s.ID) // which ends its machine in time
	}
}
