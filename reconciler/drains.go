package reconciler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Drain orders with a notification are read together. Anyone who may notify can do so for any number that do not
// exist: so they have a queue of their own, and cost one read of at most drainsAtOnce items a drainPause.
// What is not remembered is found by the next scan, which makes room for what it found: that is there, and no flood of
// notifications keeps it out. The one who orders a drain notifies again meanwhile.
const (
	drainsKey    = "orders"
	drainsAtOnce = 100 // keys of one BatchGetItem (DynamoDB, "Quotas")
	drainPause   = time.Second
)

// drainLife is how long an order stays in force beyond the longest run, which may have begun just before it.
const drainLife = time.Hour

// drainSeen takes an order that a scan read, and has one read again that no controller has taken up.
func (c *drainer) drainSeen(d store.DrainOrder) {
	if d.Taken() {
		c.cache.orders.applyDrain(d)
	} else {
		c.drains.found(d)
		c.queues.drainer.Add(drainsKey)
	}
}

// drainer takes up the orders of operators to drain instances.
type drainer struct {
	*tenure
	cache      *cache
	badRecords *badRecords
	drains     drains
}

// drains are the orders of which a notification came and that are not read yet.
type drains struct {
	mu       sync.Mutex
	notified map[string]bool
	last     time.Time // of the last read
}

// add remembers an order and reports whether there was room.
func (d *drains) add(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.notified) >= drainsAtOnce {
		return false
	}
	d.notified[id] = true
	return true
}

// found remembers orders that exist, whether or not there is room.
func (d *drains) found(orders ...store.DrainOrder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range orders {
		d.notified[o.ID] = true
	}
}

// take removes and returns all, in order, or says how long to wait until the next read.
func (d *drains) take(now time.Time) (ids []string, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.notified) == 0 {
		return nil, 0
	}
	if wait := d.last.Add(drainPause).Sub(now); wait > 0 {
		return nil, wait
	}
	ids = slices.Sorted(maps.Keys(d.notified))
	clear(d.notified)
	d.last = now
	return ids, 0
}

// readDrains takes up the orders of which a notification came, and wakes those they cover.
func (c *drainer) readDrains(ctx context.Context, _ string) (Result, error) {
	ids, wait := c.drains.take(c.clock.Now())
	if len(ids) == 0 {
		return Result{After: wait}, nil
	}
	orders, err := c.cache.store.DrainOrders(ctx, c.badRecords.badRecord, ids...)
	if err != nil {
		for _, id := range ids {
			c.drains.add(id)
		}
		return Result{}, fmt.Errorf("drain orders: %w", err)
	}
	now := c.clock.Now()
	err = sideBySide(orders, func(d store.DrainOrder) error {
		taken, err := c.cache.store.TakeDrain(ctx, d, now, c.term, c.cfg.MaxRuntime+drainLife)
		if err != nil {
			c.drains.found(d)
			return fmt.Errorf("accept drain order: %w", err)
		}
		c.cache.orders.applyDrain(taken)
		c.cache.wakeAll(func(in *instance) bool { return taken.Matches(in.record) })
		return nil
	})
	return Result{After: drainPause}, err
}
