package reconciler

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

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
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second), backoff.WithMaxElapsedTime(0))
	err := backoff.RetryNotify(func() error { return n.cache.store.Table().Watch(ctx, n.rung) },
		backoff.WithContext(pause, ctx),
		func(err error, _ time.Duration) { n.log.Warn("watch", logkey.Error, err) })
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
