package reconciler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// observer reads what agents and clients say: at a notification, and all the time for want of one.
type observer struct {
	*tenure
	cache      *cache
	breaker    *breaker
	badRecords *badRecords
}

// clientPoll is how often the client of a pending request is looked for: often enough for several
// reads within ClientSilence.
func (c Config) clientPoll() time.Duration { return c.ClientSilence / 6 }

// hot reports whether something waits for what this instance says next.
func (in *instance) hot() bool {
	switch in.record.State {
	case statemachine.Created, statemachine.Claimed:
		return true
	case statemachine.Idle:
		return in.record.PooledAt.IsZero() || in.record.Ahead() && !in.vitals.beat.Beat.ListensFor(&in.record)
	case statemachine.Running:
		return in.awaited
	case statemachine.Terminated, statemachine.None:
	}
	return false
}

// pollClients looks for the clients of pending requests, all that are due in one batch, until ctx ends. A request is
// woken only if its client has changed it, or has gone: a thousand that wait are ten or twenty calls in clientPoll, and no look.
func (o *observer) pollClients(ctx context.Context) error {
	ticker := o.clock.NewTicker(o.cfg.HotPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if err := o.readClients(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("reading the clients of waiting requests failed; they are read again at the next poll", logkey.Error, err)
		}
	}
}

// readClients reads what the clients of pending requests wrote that were not read for clientPoll.
func (o *observer) readClients(ctx context.Context) error {
	due := o.clock.Now().Add(-o.cfg.clientPoll())
	ids := o.cache.requests.unreadSince(due)
	if len(ids) == 0 {
		return nil
	}
	got, err := o.cache.store.Clients(ctx, o.badRecords.badRecord, ids...)
	if err != nil {
		return fmt.Errorf("read clients: %w", err)
	}
	now := o.clock.Now()
	for _, id := range ids {
		if o.observeClient(id, got[id], now) {
			o.queues.requests.Add(id)
		}
	}
	return nil
}

// observeClient takes what was read and reports whether it is worth a look.
func (o *observer) observeClient(id store.RequestID, rec store.RunRecords, now time.Time) bool {
	before, _ := o.cache.requests.getRun(id)
	o.cache.requests.applyRun(id, rec, now)
	o.cache.requests.noteClient(id, rec.Client, now)
	after, _ := o.cache.requests.getRun(id)
	return after.request != before.request || after.vanished(now, o.writable(), o.cfg.ClientSilence)
}

// readReports reads the vitals of instances in one batch and wakes what changed.
func (o *observer) readReports(ctx context.Context, ids []store.InstanceID) error {
	if len(ids) == 0 {
		return nil
	}
	principals := make([]store.Principal, 0, len(ids))
	mark := func(changed bool) {
		for _, id := range ids {
			o.cache.instances.with(id, func(in *instance) { in.vitals.reportChanged = changed })
		}
	}
	mark(false) // before the read: a notification that comes meanwhile marks it again
	for _, id := range ids {
		if s, ok := o.cache.instances.get(id); ok {
			principals = append(principals, s.Principal)
		}
	}
	got, err := o.cache.store.Vitals(ctx, o.badRecords.badRecord, principals...)
	if err != nil {
		mark(true)
		return fmt.Errorf("read reports of %d instances: %w", len(ids), err)
	}
	now := o.clock.Now()
	for _, id := range ids {
		changed, run := false, store.RequestID("")
		o.cache.instances.with(id, func(in *instance) {
			changed = in.observe(got[in.record.Principal], now, o.cfg.Limits)
			if in.awaited {
				run = in.record.RunID
			}
		})
		if !changed {
			continue
		}
		o.queues.instances.Add(id)
		if run != "" {
			o.queues.requests.Add(run)
		}
	}
	return nil
}

// poll reads the vitals of hot instances every HotPoll and of all others every WarmPoll: the safety
// net under the notifications.
func (o *observer) poll(ctx context.Context) error {
	ticker := o.clock.NewTicker(o.cfg.HotPoll)
	defer ticker.Stop()
	var warm time.Time
	for {
		now := o.clock.Now()
		all := now.Sub(warm) >= o.cfg.WarmPoll
		var ids []store.InstanceID
		o.cache.instances.eachAlive(func(in *instance) {
			if all || in.hot() {
				ids = append(ids, in.record.ID)
			}
		})
		slices.Sort(ids) // a map has no order; with one, the same events have the same consequences
		if err := o.readReports(ctx, ids); err != nil {
			o.log.Warn("reading the agents' reports failed; they are read again at the next poll", logkey.Error, err)
		} else if all {
			warm = now
		}
		o.breaker.update(o.clock.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}
