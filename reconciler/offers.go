package reconciler

import (
	"context"
	"fmt"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// offers sends the messages of pooled instances.
type offers struct {
	*tenure
	cache  *cache
	pickup *pool.Pickup
}

// offer sends the message of a pooled instance, once per process: a message lost with a crash is
// sent again by the next leader, which knows of none.
func (a *offers) offer(ctx context.Context, id store.InstanceID) (Result, error) {
	s, known := a.cache.instances.get(id)
	if !known || !needsOffer(s) {
		return Result{}, nil
	}
	if err := a.pickup.Offer(ctx, ticketOf(s.Instance)); err != nil {
		return Result{}, fmt.Errorf("offer %s: %w", id, err)
	}
	a.cache.instances.with(id, func(in *instance) { in.offered = !in.record.PooledAt.IsZero() })
	return Result{}, nil
}
