package pool

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/logkey"
)

const (
	// expirePeriod is how soon an expired candidate is gone although no one asked for it.
	expirePeriod = 5 * time.Second
	// emptyPause is the least time between two receives of an empty queue, in case the back end does
	// not wait.
	emptyPause = time.Second
	// hold is how long a message is hidden while its record is looked at, which is a matter of memory: what was not
	// deleted by then, as by a crash, comes again.
	hold = 30 * time.Second
	// retryFirst and retryMax bound the pause after an error of the Pool. Losing a minute of messages
	// loses nothing.
	retryFirst = 100 * time.Millisecond
	retryMax   = 30 * time.Second
)

func newBackOff() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(retryFirst), backoff.WithMaxInterval(retryMax), backoff.WithMaxElapsedTime(0))
}

// Run receives the messages of classes until ctx ends; then it returns nil. Errors of the Pool are logged and
// retried with growing pauses.
//
// look is called with the instance of each message, without locks, from several goroutines. It brings the index in
// step with the instance's record; then the message is deleted (S48).
func (p *Pickup) Run(ctx context.Context, classes []string, look func(id string)) error {
	var all sync.WaitGroup
	for _, class := range classes {
		all.Go(func() { p.receiveClass(ctx, class, look) })
	}
	all.Go(func() {
		for p.pause(ctx, expirePeriod) {
			p.expire()
		}
	})
	all.Wait()
	return nil
}

// expireBatch bounds the removals under one lock, to about 0.3 ms.
const expireBatch = 256

// expire removes the expired candidates that no one has taken.
func (p *Pickup) expire() {
	now := p.clock.Now()
	for more := true; more; {
		p.mu.Lock()
		more = p.index.expire(now, expireBatch)
		p.mu.Unlock()
	}
}

// receiveClass receives from one class until ctx ends.
func (p *Pickup) receiveClass(ctx context.Context, class string, look func(string)) {
	retry := newBackOff()
	for ctx.Err() == nil {
		start := p.clock.Now()
		n, err := p.receiveBatch(ctx, class, MaxWait, look)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			p.log.WarnContext(ctx, "receiving messages failed; it is tried again", logkey.Class, class, logkey.Error, err)
			p.pause(ctx, retry.NextBackOff())
		case n == 0:
			retry.Reset()
			p.pause(ctx, emptyPause-p.clock.Since(start))
		default:
			retry.Reset()
		}
	}
}

// receiveBatch receives once, has all looked at, and returns how many messages came. A malformed one names nothing to
// look at, and is deleted like the others (H21, H22).
func (p *Pickup) receiveBatch(ctx context.Context, class string, wait time.Duration, look func(string)) (int, error) {
	messages, err := p.pool.Receive(ctx, class, hold, wait)
	if err != nil || len(messages) == 0 {
		return 0, err
	}
	receipts := make([]string, len(messages))
	for i, m := range messages {
		receipts[i] = m.Receipt
		if t, err := Decode(m.Body); err != nil {
			p.log.WarnContext(ctx, "a malformed message was removed from the pool's queue", logkey.Class, class, logkey.Error, err)
		} else {
			look(t.InstanceID)
		}
	}
	return len(messages), p.pool.Done(ctx, class, receipts...)
}

// pause waits for d and reports whether ctx is still alive.
func (p *Pickup) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := p.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
