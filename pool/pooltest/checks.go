package pooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/pool"
)

func offerUnchanged(ctx context.Context, p pool.Pool) error {
	want := tickets(classA, 1)
	got := make(seen)
	if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, longHold, want)); err != nil {
		return err
	}
	d := got[want[0].InstanceID][0]
	if diff := cmp.Diff(want[0], d.Ticket); diff != "" {
		return fmt.Errorf("Receive returns another ticket than was offered (-want +got):\n%s", diff)
	}
	if d.Receipt == "" {
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

func receiveMax(ctx context.Context, p pool.Pool) error {
	if err := offer(ctx, p, tickets(classA, 30)...); err != nil {
		return err
	}
	received := 0
	for _, most := range []int{1, 3, pool.MaxBatch, 1, 3} {
		var out []pool.Delivery
		err := retry(ctx, func() (err error) {
			out, err = p.Receive(ctx, classA, most, longHold, time.Second)
			return err
		})
		if err != nil {
			return err
		}
		if len(out) > most {
			return fmt.Errorf("Receive with max %d returns %d messages", most, len(out))
		}
		received += len(out)
	}
	if received == 0 {
		return errors.New("five receives from a queue of 30 messages return none")
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

// A message that is offered while somebody waits for it comes at once, at least once in five.
func receiveWaits(ctx context.Context, b Backend) error {
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
		})(ctx, b)
	})(ctx, b)
}

// receiveOne waits for a message as long as the contract allows in one call.
func receiveOne(ctx context.Context, p pool.Pool) error {
	for {
		var out []pool.Delivery
		err := retry(ctx, func() (err error) {
			out, err = p.Receive(ctx, classA, 1, longHold, pool.MaxWait)
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
				out, err := p.Receive(ctx, "suite-never-offered", 1, longHold, wait)
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

func receiveMalformed(ctx context.Context, b Backend) error {
	return with(func(ctx context.Context, p pool.Pool) error {
		bad := []string{"", "no json", "{}", "[]", `{"instanceId":7}`, `{"instanceId":"i-x","threshold":"soon"}`, "\x00"}
		for _, body := range append(bad, bad...) { // more than one batch
			if err := b.Inject(ctx, classA, body); err != nil {
				return fmt.Errorf("inject %q: %w", body, err)
			}
		}
		want := tickets(classA, 1)
		got := make(seen)
		if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, longHold, want)); err != nil {
			return fmt.Errorf("good message behind malformed ones: %w", err)
		}
		if err := got.watch(ctx, p, classA, longHold, 2*time.Second); err != nil {
			return err
		}
		if len(got) != 1 {
			return fmt.Errorf("a malformed message is returned: %v", got)
		}
		return nil
	})(ctx, b)
}

func receiveArguments(ctx context.Context, p pool.Pool) error {
	for _, c := range []struct {
		max        int
		hold, wait time.Duration
	}{
		{0, longHold, 0}, {-1, longHold, 0}, {pool.MaxBatch + 1, longHold, 0},
		{1, -time.Second, 0}, {1, pool.MaxHold + 1, 0}, {1, longHold, -time.Second}, {1, longHold, pool.MaxWait + 1},
	} {
		err := retry(ctx, func() error {
			_, err := p.Receive(ctx, classA, c.max, c.hold, c.wait)
			return err
		})
		if err == nil {
			return fmt.Errorf("Receive with max %d, hold %s, wait %s: got no error", c.max, c.hold, c.wait)
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
	// More than a batch at once, and some twice.
	if err := errors.Join(done(ctx, p, classA, got.receipts()...), done(ctx, p, classA, got.receipts()[:3]...)); err != nil {
		return err
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

func doneUnknown(ctx context.Context, p pool.Pool) error {
	const hold = 4 * time.Second
	want := tickets(classA, 20)
	got := make(seen)
	if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, hold, want)); err != nil {
		return err
	}
	mixed := append([]string{"", "no such receipt"}, got.receipts()...)
	if err := errors.Join(done(ctx, p, classA), done(ctx, p, classA, "no such receipt"), done(ctx, p, classA, mixed...)); err != nil {
		return fmt.Errorf("unknown receipts: %w", err)
	}
	again := make(seen)
	if err := again.watch(ctx, p, classA, longHold, hold+time.Second); err != nil {
		return err
	}
	if len(again) > len(want)/2 {
		return fmt.Errorf("an unknown receipt among good ones kept %d of %d messages alive", len(again), len(want))
	}
	return nil
}

func doneOtherClass(ctx context.Context, p pool.Pool) error {
	const hold = 2 * time.Second
	want := tickets(classA, 10)
	got := make(seen)
	if err := errors.Join(offer(ctx, p, want...), got.collect(ctx, p, classA, hold, want)); err != nil {
		return err
	}
	if err := done(ctx, p, classB, got.receipts()...); err != nil {
		return err
	}
	if err := make(seen).collect(ctx, p, classA, longHold, want); err != nil {
		return fmt.Errorf("after Done with receipts of another class: %w", err)
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
			_, err := p.Receive(short, "suite-never-offered", 1, longHold, pool.MaxWait)
			return err
		})
	}
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > pool.MaxWait/2 {
		return fmt.Errorf("Receive with a context of 500 ms: error = %v after %s, want context.DeadlineExceeded at once", err, took)
	}
	return nil
}
