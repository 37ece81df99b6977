package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// fence lets effects out only within the window of trust: who cannot renew the lease may have a successor, whose
// machines it does not know. Reads pass, so a tenure without trust keeps its cache (ADR 0016).
type fence struct {
	clock  clock.WithTicker
	until  func() time.Time // when trust ends, on the local monotonic clock; zero: there is none
	margin time.Duration    // how long a call under way may outlast it
}

// open reports whether an effect may be begun now.
func (f fence) open() bool { return f.clock.Now().Before(f.until()) }

// errOutlived cuts off a call that was under way when trust ended. Its outcome is unknown.
var errOutlived = errors.New("the lease was not renewed while the call was under way")

// pass makes a call with an effect, if trust allows. Should trust end meanwhile, the call is cut off a margin
// later, which is before anyone else may lead.
func (f fence) pass(ctx context.Context, what string, call func(context.Context) error) error {
	if !f.open() {
		return fmt.Errorf("%s: %w", what, store.ErrNotLeader)
	}
	ctx, stop := f.bound(ctx, f.margin)
	defer stop()
	return call(ctx)
}

// bound returns a context that ends so long after trust has, however often that is extended until then.
func (f fence) bound(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			left := f.until().Add(after).Sub(f.clock.Now())
			if left <= 0 {
				cancel(errOutlived)
				return
			}
			timer := f.clock.NewTimer(left)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C():
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// await returns once there is trust, or with the cause of ctx's end. It looks often: what waits here has waited long.
func (f fence) await(ctx context.Context) error {
	for !f.open() {
		timer := f.clock.NewTimer(f.margin / 4)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C():
		}
	}
	return nil
}

// trusted is a reconcile function that begins only while there is trust: without it nothing could be done, and each
// look would only cost calls that read.
func trusted[K comparable](f fence, reconcile func(context.Context, K) (Result, error)) func(context.Context, K) (Result, error) {
	return func(ctx context.Context, key K) (Result, error) {
		if err := f.await(ctx); err != nil {
			return Result{}, err
		}
		return reconcile(ctx, key)
	}
}

// trustedTable refuses writes outside the window of trust, and takes no notifications, which a successor waits for. Reads
// pass. A write under way is not cut off: should it arrive late, its condition decides.
type trustedTable struct {
	store.Table
	fence fence
}

// Put sends the write only while the lease is certainly ours.
func (t trustedTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if !t.fence.open() {
		return fmt.Errorf("put %s: %w", item.Key.Partition, store.ErrNotLeader)
	}
	return t.Table.Put(ctx, item, expect)
}

// Watch watches while there is trust.
func (t trustedTable) Watch(ctx context.Context, notified func(store.Key)) error {
	for {
		if err := t.fence.await(ctx); err != nil {
			return nil //nolint:nilerr // only the end of ctx ends the wait
		}
		trusted, stop := t.fence.bound(ctx, 0)
		err := t.Table.Watch(trusted, notified)
		ended := trusted.Err() != nil
		stop()
		if !ended || ctx.Err() != nil {
			return err
		}
	}
}

// trustedPool neither takes, deletes nor sends messages outside the window of trust.
type trustedPool struct {
	pool.Pool
	fence fence
}

// Offer is pool.Pool's.
func (p trustedPool) Offer(ctx context.Context, t pool.Ticket) error {
	return p.fence.pass(ctx, "offer", func(ctx context.Context) error { return p.Pool.Offer(ctx, t) })
}

// Receive waits for trust first, and receives nothing once that ends.
func (p trustedPool) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	if err := p.fence.await(ctx); err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	trusted, stop := p.fence.bound(ctx, 0)
	defer stop()
	got, err := p.Pool.Receive(trusted, class, hold, wait)
	if trusted.Err() != nil && ctx.Err() == nil {
		return nil, nil // cut off: to be asked again
	}
	return got, err
}

// Done is pool.Pool's.
func (p trustedPool) Done(ctx context.Context, class string, receipts ...string) error {
	return p.fence.pass(ctx, "done", func(ctx context.Context) error { return p.Pool.Done(ctx, class, receipts...) })
}

// trustedFleet launches and ends nothing outside the window of trust. Plans and listings pass.
type trustedFleet struct {
	fleet.Fleet
	fence fence
}

// Launch is fleet.Fleet's. Cut off, its outcome is unknown: the identical call brings the same machines.
func (f trustedFleet) Launch(ctx context.Context, p fleet.Plan) (out fleet.Outcome, err error) {
	err = f.fence.pass(ctx, "launch", func(ctx context.Context) error {
		out, err = f.Fleet.Launch(ctx, p)
		return err
	})
	return out, err
}

// Terminate is fleet.Fleet's.
func (f trustedFleet) Terminate(ctx context.Context, ids ...string) error {
	return f.fence.pass(ctx, "terminate", func(ctx context.Context) error { return f.Fleet.Terminate(ctx, ids...) })
}
