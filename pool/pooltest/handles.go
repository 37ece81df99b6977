package pooltest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/pool"
)

// Two processes offer and receive in turn.
func handlesShare(ctx context.Context, b Backend) error {
	return with(func(ctx context.Context, first pool.Pool) error {
		return with(func(ctx context.Context, second pool.Pool) error {
			want := tickets(classA, 4)
			got := make(seen)
			return errors.Join(
				offer(ctx, first, want[:2]...), got.collect(ctx, second, classA, longHold, want[:2]),
				offer(ctx, second, want[2:]...), got.collect(ctx, first, classA, longHold, want[2:]),
				done(ctx, first, classA, got.receipts()...))
		})(ctx, b)
	})(ctx, b)
}

// Two processes of two senders and two receivers each: everything arrives, and mostly at one.
func handlesConcurrent(ctx context.Context, b Backend) error {
	want := tickets(classA, 80)
	var mu sync.Mutex
	got := make(seen)
	missing := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(got.missing(want))
	}
	group, ctx := errgroup.WithContext(ctx)
	for worker := range 4 {
		group.Go(func() error {
			return with(func(ctx context.Context, p pool.Pool) error {
				mine := want[worker*20 : worker*20+20]
				if err := offer(ctx, p, mine...); err != nil {
					return err
				}
				for missing() > 0 {
					out, err := receive(ctx, p, classA, longHold)
					if err != nil {
						return fmt.Errorf("%w; %d missing", err, missing())
					}
					mu.Lock()
					got.add(out)
					mu.Unlock()
				}
				return nil
			})(ctx, b)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if n := len(got.receipts()); n > 2*len(want) {
		return fmt.Errorf("%d messages were received %d times by receivers that hold them", len(want), n)
	}
	return nil
}

func closeEnds(ctx context.Context, b Backend) error {
	p, err := b.Open(ctx)
	if err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	t := tickets(classA, 1)[0]
	if err := retry(ctx, func() error { return p.Offer(ctx, t) }); err == nil {
		return errors.New("Offer after Close: got no error")
	}
	if err := retry(ctx, func() error { return p.Done(ctx, classA, "receipt") }); err == nil {
		return errors.New("Done after Close: got no error")
	}
	err = retry(ctx, func() error {
		_, err := p.Receive(ctx, classA, 1, longHold, 0)
		return err
	})
	if err == nil {
		return errors.New("Receive after Close: got no error")
	}
	return ctx.Err()
}
