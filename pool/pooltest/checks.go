package pooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/pool"
)

func offerUnchanged(ctx context.Context, p pool.Pool) error {
	want := tickets(classA, 1)
	if err := offer(ctx, p, want...); err != nil {
		return err
	}
	var out []pool.Message
	for len(out) == 0 {
		var err error
		if out, err = receive(ctx, p, classA, longHold); err != nil {
			return err
		}
	}
	got, err := pool.Decode(out[0].Body)
	if diff := cmp.Diff(want[0], got); err != nil || diff != "" {
		return fmt.Errorf("Receive returns another ticket than was offered, error %w (-want +got):\n%s", err, diff)
	}
	if out[0].Receipt == "" {
		return errors.New("Receive returns no receipt")
	}
	return nil
}

// More than two batches, one empty answer ends nothing.
func offerNoneLost(ctx context.Context, p pool.Pool) error {
	want := tickets(classA, 25)
	return errors.Join(offer(ctx, p, want...), make(seen).collect(ctx, p, classA, longHold, want))
}

func offerNoInstance(ctx context.Context, p pool.Pool) error {
	err := retry(ctx, func() error { return p.Offer(ctx, pool.Ticket{ResourceClass: classA}) })
	if err == nil {
		return errors.New("Offer without an instance id: got no error")
	}
	return nil
}

func receiveClasses(ctx context.Context, p pool.Pool) error {
	a, b := tickets(classA, 12), tickets(classB, 12)
	gotA, gotB := make(seen), make(seen)
	err := errors.Join(offer(ctx, p, a...), offer(ctx, p, b...),
		gotA.collect(ctx, p, classA, longHold, a), gotB.collect(ctx, p, classB, longHold, b))
	if err != nil {
		return err
	}
	if len(gotA) != len(a) || len(gotB) != len(b) {
		return fmt.Errorf("classes of %d and %d instances gave %d and %d different ones", len(a), len(b), len(gotA), len(gotB))
	}
	return nil
}

func receiveHides(ctx context.Context, p pool.Pool) error {
	want := tickets(classA, 20)
	got := make(seen)
	if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, longHold, want)); err != nil {
		return err
	}
	again := make(seen)
	if err := again.watch(ctx, p, classA, longHold, 2*time.Second); err != nil {
		return err
	}
	if len(again) > len(want)/2 {
		return fmt.Errorf("%d of %d messages come again while they are held", len(again), len(want))
	}
	return nil
}

// A consumer that dies with a message in hand loses nothing.
func receiveComesBack(ctx context.Context, p pool.Pool) error {
	want := tickets(classA, 12)
	if err := offer(ctx, p, want...); err != nil {
		return err
	}
	if err := make(seen).collect(ctx, p, classA, 2*time.Second, want); err != nil {
		return err
	}
	if err := make(seen).collect(ctx, p, classA, longHold, want); err != nil {
		return fmt.Errorf("after the hold: %w", err)
	}
	return nil
}

// A message that is offered while a receiver waits for it comes at once, at least once in five.
func receiveWaits(ctx context.Context, open Open) error {
	return with(func(ctx context.Context, p pool.Pool) error {
		return with(func(ctx context.Context, other pool.Pool) error {
			var took time.Duration
			for _, t := range tickets(classA, 5) {
				start := time.Now()
				sent := make(chan error, 1)
				go func() {
					time.Sleep(500 * time.Millisecond) // so that the receive below waits already
					sent <- offer(ctx, other, t)
				}()
				err := receiveOne(ctx, p)
				if err := errors.Join(err, <-sent); err != nil {
					return err
				}
				if took = time.Since(start); took < pool.MaxWait/2 {
					return nil
				}
			}
			return fmt.Errorf("Receive returns a message %s after it was offered", took)
		})(ctx, open)
	})(ctx, open)
}

// receiveOne waits for a message as long as the contract allows in one call.
func receiveOne(ctx context.Context, p pool.Pool) error {
	for {
		var out []pool.Message
		err := retry(ctx, func() (err error) {
			out, err = p.Receive(ctx, classA, longHold, pool.MaxWait)
			return err
		})
		if err != nil || len(out) > 0 {
			return err
		}
	}
}

// An empty answer comes when the wait is over, at least once in five: a machine may be busy.
func receiveEmpty(ctx context.Context, p pool.Pool) error {
	for _, wait := range []time.Duration{0, time.Second} {
		took := pool.MaxWait
		for try := 0; took >= pool.MaxWait/2; try++ {
			if try == 5 {
				return fmt.Errorf("Receive with wait %s takes %s", wait, took)
			}
			start := time.Now()
			err := retry(ctx, func() error {
				out, err := p.Receive(ctx, "suite-never-offered", longHold, wait)
				if len(out) > 0 {
					return fmt.Errorf("returns %v", out)
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("Receive from a class never named before: %w", err)
			}
			took = time.Since(start)
		}
	}
	return nil
}

func doneDeletes(ctx context.Context, p pool.Pool) error {
	const hold = 4 * time.Second
	want := tickets(classA, 30)
	got := make(seen)
	if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, hold, want)); err != nil {
		return err
	}
	for batch := range slices.Chunk(got.receipts(), pool.MaxBatch) {
		if err := retry(ctx, func() error { return p.Done(ctx, classA, batch...) }); err != nil {
			return fmt.Errorf("Done(%d receipts): %w", len(batch), err)
		}
	}
	again := make(seen)
	if err := again.watch(ctx, p, classA, longHold, hold+time.Second); err != nil {
		return err
	}
	if len(again) > len(want)/2 {
		return fmt.Errorf("%d of %d deleted messages come back", len(again), len(want))
	}
	return nil
}

// Two processes of two senders and two receivers each: everything arrives, and mostly at one.
func handlesConcurrent(ctx context.Context, open Open) error {
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
				if err := offer(ctx, p, want[worker*20:worker*20+20]...); err != nil {
					return err
				}
				for missing() > 0 {
					out, err := receive(ctx, p, classA, longHold)
					if err != nil {
						return fmt.Errorf("%w; %d missing", err, missing())
					}
					mu.Lock()
					err = got.add(out)
					mu.Unlock()
					if err != nil {
						return err
					}
				}
				return nil
			})(ctx, open)
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

func contextEnds(ctx context.Context, p pool.Pool) error {
	dead, cancel := context.WithCancel(ctx)
	cancel()
	t := tickets(classA, 1)[0]
	if err := retry(ctx, func() error { return p.Offer(dead, t) }); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("Offer with a cancelled context: error = %v, want context.Canceled", err)
	}
	short, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	start := time.Now()
	var err error
	for err == nil && time.Since(start) < pool.MaxWait { // an empty answer may come before the context ends
		err = retry(ctx, func() error {
			_, err := p.Receive(short, "suite-never-offered", longHold, pool.MaxWait)
			return err
		})
	}
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > pool.MaxWait/2 {
		return fmt.Errorf("Receive with a context of 500 ms: error = %v after %s, want context.DeadlineExceeded at once", err, took)
	}
	return nil
}

func closeEnds(ctx context.Context, open Open) error {
	p, err := open(ctx)
	if err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	for name, call := range map[string]func() error{
		"Offer": func() error { return p.Offer(ctx, tickets(classA, 1)[0]) },
		"Done":  func() error { return p.Done(ctx, classA, "receipt") },
		"Receive": func() error {
			_, err := p.Receive(ctx, classA, longHold, 0)
			return err
		},
	} {
		if err := retry(ctx, call); err == nil {
			return fmt.Errorf("%s after Close: got no error", name)
		}
	}
	return ctx.Err()
}
