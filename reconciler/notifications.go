package reconciler

import (
	"context"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// notifications turns what the table tells of changes into keys.
type notifications struct {
	*tenure
	cache   *cache
	drainer *drainer
}

// listenRings turns rings into keys.
func (n *notifications) listenRings(ctx context.Context) error {
	failed := func(err error) { n.log.Warn("watch", logkey.Error, err) }
	err := insist(ctx, func() error { return n.cache.store.Table().Watch(ctx, n.rung) }, failed)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopping
	}
	return err
}

// rung marks what a ring is about as unread and wakes it.
func (n *notifications) rung(k store.Key) {
	if id, ok := k.RequestID(); ok {
		if n.cache.requests.rung(id, n.clock.Now()) {
			n.queues.requests.Add(id)
		}
		return
	}
	if p, ok := k.Principal(); ok {
		if id, known := n.cache.instances.id(p); known {
			n.cache.instances.with(id, func(in *instance) { in.vitals.unread = true })
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
