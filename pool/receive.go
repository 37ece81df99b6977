package pool

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/logkey"
)

const (
	// maxReceivers bounds the goroutines that receive, one per class. Classes beyond it, in the order
	// of their names, are not received: their candidates come by Put alone, their messages stay.
	maxReceivers = 256
	// classPeriod is how soon a new class is received from.
	classPeriod = 5 * time.Second
	// expirePeriod is how soon an expired candidate is gone although nobody asked for it.
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

// Run receives the messages of every class that classes names, asked every few seconds, until ctx
// ends; then it returns nil. Errors of the Pool are logged and retried with growing pauses.
//
// look is called with the instance of each message, without locks, from several goroutines. It brings the index in
// step with the instance's record; then the message is deleted (S48).
//
// It uses one goroutine per class, maxReceivers at most, and two others.
func (p *Pickup) Run(ctx context.Context, classes func() []string, look func(id string)) error {
	var all sync.WaitGroup
	all.Go(func() { p.receiveClasses(ctx, classes, look) })
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

// expire removes the expired candidates that nobody has taken.
func (p *Pickup) expire() {
	now := p.clock.Now()
	for more := true; more; {
		p.mu.Lock()
		more = p.index.expire(now, expireBatch)
		p.mu.Unlock()
	}
}

// receiveClasses keeps one receiver per class.
func (p *Pickup) receiveClasses(ctx context.Context, classes func() []string, look func(string)) {
	var all sync.WaitGroup
	defer all.Wait()
	running := make(map[string]context.CancelFunc)
	defer func() {
		for _, stop := range running {
			stop()
		}
	}()
	for {
		want := slices.Sorted(slices.Values(classes()))
		if len(want) > maxReceivers {
			p.log.WarnContext(ctx, "too many classes to receive from", logkey.Count, len(want))
			want = want[:maxReceivers]
		}
		for class, stop := range running {
			if _, found := slices.BinarySearch(want, class); !found {
				stop()
				delete(running, class)
			}
		}
		for _, class := range want {
			if running[class] == nil {
				one, stop := context.WithCancel(ctx)
				running[class] = stop
				all.Go(func() { p.receiveClass(one, class, look) })
			}
		}
		if !p.pause(ctx, classPeriod) {
			return
		}
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
			p.log.WarnContext(ctx, "receive messages", logkey.Class, class, logkey.Error, err)
			p.pause(ctx, retry.NextBackOff())
		case n == 0:
			retry.Reset()
			p.pause(ctx, emptyPause-p.clock.Since(start))
		default:
			retry.Reset()
		}
	}
}

// receiveBatch receives once, has all looked at, and returns how many messages came.
func (p *Pickup) receiveBatch(ctx context.Context, class string, wait time.Duration, look func(string)) (int, error) {
	deliveries, err := p.pool.Receive(ctx, class, MaxBatch, hold, wait)
	if err != nil || len(deliveries) == 0 {
		return 0, err
	}
	receipts := make([]string, len(deliveries))
	for i, d := range deliveries {
		look(d.Ticket.InstanceID)
		receipts[i] = d.Receipt
	}
	return len(deliveries), p.pool.Done(ctx, class, receipts...)
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
