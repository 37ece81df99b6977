package reconciler

import (
	"context"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// notifications turns the table's notifications into keys.
type notifications struct {
	*tenure
	cache   *cache
	drainer *drainer
}

// watchNotifications watches until ctx ends.
func (n *notifications) watchNotifications(ctx context.Context) error {
	failed := func(err error) {
		n.log.Warn("watching for notifications failed; polls go on meanwhile", logkey.Error, err)
	}
	err := insist(ctx, func() error { return n.cache.store.Table().Watch(ctx, n.notified) }, failed)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopping
	}
	return err
}

// notified marks what a notification is about as changed and wakes it.
func (n *notifications) notified(k store.Key) {
	if id, ok := k.RequestID(); ok {
		if n.cache.requests.markChanged(id, n.clock.Now()) {
			n.queues.requests.Add(id)
		}
		return
	}
	if p, ok := k.Principal(); ok {
		if id, known := n.cache.instances.id(p); known {
			n.cache.instances.with(id, func(in *instance) { in.vitals.reportChanged = true })
			n.queues.instances.Add(id)
		}
		return
	}
	if id, ok := k.DrainID(); ok {
		if n.drainer.drains.add(id) {
			n.queues.drainer.Add(drainsKey)
		}
	}
}
