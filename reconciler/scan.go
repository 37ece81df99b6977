package reconciler

import (
	"context"
	"sync/atomic"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// scanner reads all records: at first, and then again and again as the net under the notifications.
type scanner struct {
	*tenure
	cache      *cache
	badRecords *badRecords
	drainer    *drainer
	waiting    *waiting
	costs      *costKeeper
	loaded     atomic.Bool // the records were read, and the pool is known
	scanned    instant     // when they were last read to the end
}

// load scans everything before the first decision, as often as it takes.
func (c *scanner) load(ctx context.Context) error {
	start := c.clock.Now()
	failed := func(err error) {
		c.log.Warn("the first scan of the records failed; nothing is decided until it succeeds", logkey.Error, err)
	}
	if err := insist(ctx, func() error { return c.scan(ctx) }, failed); err != nil {
		return err
	}
	c.cache.instances.each(func(in *instance) { in.vitals.reportChanged = false }) // the scan read what their agents reported
	for _, s := range c.cache.instances.idle() {
		c.cache.index.changed(s.ID) // the pool is known before the first request is served
	}
	if c.cfg.Budget.Monthly > 0 { // else what is off is found only when something has been launched
		failed := func(err error) {
			c.log.Warn("what the month has cost cannot be read; nothing is decided until it can", logkey.Error, err)
		}
		if err := insist(ctx, func() error { return c.costs.begin(ctx) }, failed); err != nil {
			return err
		}
	}
	c.queueUp()
	c.loaded.Store(true)
	total, _ := c.cache.instances.live("")
	c.log.Info("records read", logkey.Count, total, logkey.Seconds, c.clock.Since(start).Seconds())
	return nil
}

// queueUp puts the requests that are short in line before any is served, so that a new leader serves
// the oldest first too.
func (c *scanner) queueUp() {
	for _, id := range c.cache.unfinished() {
		r, ok := c.cache.requests.getRun(id)
		if !ok || r.status == nil || !r.alive(r.status.Attempt) || r.status.Phase != statemachine.Pending {
			continue
		}
		q, err := c.cfg.query(c.cache.wanted(r))
		if err != nil {
			continue // it fails when its turn comes
		}
		short := r.request.Count - c.cache.supplied(id, r.status.Attempt)
		c.waiting.set(waiter{id: id, since: r.status.PendingAt.Time, query: q, short: max(0, short)})
	}
}

// scan reads every record and wakes everything that is not settled. It is the net under all notifications:
// correctness may rest on it alone.
func (c *scanner) scan(ctx context.Context) error {
	now := c.clock.Now()
	reported := map[store.Principal]store.Vitals{}
	var junk junkItems
	err := c.cache.store.Scan(ctx, store.Visitor{
		Request:  func(r store.RunRequest) { c.cache.requests.applyRun(r.ID, store.RunRecords{Request: &r}, now) },
		Status:   func(s store.RunStatus) { c.cache.requests.applyRun(s.ID, store.RunRecords{Status: &s}, now) },
		Instance: c.cache.read,
		Launch:   c.cache.launches.applyLaunch,
		Drain:    c.drainer.drainSeen,
		Floor:    c.cache.floors.applyFloor,
		Heartbeat: func(b store.Heartbeat) {
			v := reported[b.Principal]
			v.Heartbeat = b
			reported[b.Principal] = v
		},
		Signal: func(s store.Signal) {
			v := reported[s.Principal]
			v.Signal = s
			reported[s.Principal] = v
		},
		Bad:  c.badRecords.badRecord,
		Junk: junk.add,
	})
	if err != nil {
		return err
	}
	c.expireJunk(ctx, junk, now)
	c.cache.instances.each(func(in *instance) {
		in.observe(reported[in.record.Principal], now, c.cfg.Limits)
	})
	c.cache.forget(now)
	c.enqueue()
	c.scanned.set(c.clock.Now())
	return nil
}

// enqueue adds every key that may have something to do.
func (c *scanner) enqueue() {
	for _, id := range c.cache.unfinished() {
		c.queues.requests.Add(id)
	}
	c.cache.wakeAll(func(in *instance) bool {
		return !in.record.Gone()
	})
	for _, class := range append(c.cfg.floors(), c.cache.floors.stored()...) {
		c.queues.floors.Add(class)
	}
	if !c.cfg.Watch.Off {
		for _, name := range append(c.cache.requests.watchable(), c.cfg.Watch.own()) {
			if name != "" && c.cfg.Watch.within(name) && c.cache.requests.watchOf(name).State == "" {
				c.queues.runs.Add(name)
			}
		}
	}
	for _, l := range c.cache.launches.openLaunches() {
		c.queues.launches.Add(l.Token)
	}
}
