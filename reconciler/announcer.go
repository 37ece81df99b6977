package reconciler

import (
	"context"
	"fmt"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// announcer sends the messages of pooled instances.
type announcer struct {
	*tenure
	cache  *cache
	pickup *pool.Pickup
}

// announce sends the message of a pooled instance, once per process: a message lost with a crash is
// sent again by the next leader, which knows of none.
func (a *announcer) announce(ctx context.Context, id store.InstanceID) (Result, error) {
	s, known := a.cache.instances.get(id)
	if !known || !unannounced(s) {
		return Result{}, nil
	}
	if err := a.pickup.Offer(ctx, ticketOf(s.Instance)); err != nil {
		return Result{}, fmt.Errorf("offer %s: %w", id, err)
	}
	a.cache.instances.with(id, func(in *instance) { in.announced = !in.record.PooledAt.IsZero() })
	return Result{}, nil
}
