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
	// maxReceipts bounds the messages kept per candidate. There is one, plus what the queue repeats.
	maxReceipts = 4
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
// lookup says whether the record of an instance is a candidate, and its attributes. If it is, the
// message refreshes the index and is held until the instance leaves it; any other message is
// deleted (S48). lookup is called without locks, from several goroutines.
//
// It uses one goroutine per class, maxReceivers at most, and six others at most.
func (p *Pickup) Run(ctx context.Context, classes func() []string, lookup func(id string) (Ticket, bool)) error {
	var all sync.WaitGroup
	all.Go(func() { p.receiveClasses(ctx, classes, lookup) })
	all.Go(func() { p.deleteMessages(ctx) })
	all.Go(func() {
		for p.pause(ctx, expirePeriod) {
			p.expire()
		}
	})
	all.Wait()
	return nil
}

// receiveClasses keeps one receiver per class.
func (p *Pickup) receiveClasses(ctx context.Context, classes func() []string, lookup func(string) (Ticket, bool)) {
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
				all.Go(func() { p.receiveClass(one, class, lookup) })
			}
		}
		if !p.pause(ctx, classPeriod) {
			return
		}
	}
}

// receiveClass receives from one class until ctx ends.
func (p *Pickup) receiveClass(ctx context.Context, class string, lookup func(string) (Ticket, bool)) {
	retry := newBackOff()
	for ctx.Err() == nil {
		start := p.clock.Now()
		n, err := p.receiveBatch(ctx, class, MaxWait, lookup)
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

// receiveBatch receives once and returns how many messages came.
func (p *Pickup) receiveBatch(ctx context.Context, class string, wait time.Duration, lookup func(string) (Ticket, bool)) (int, error) {
	deliveries, err := p.pool.Receive(ctx, class, MaxBatch, p.hold, wait)
	if err != nil {
		return 0, err
	}
	for _, d := range deliveries {
		p.refresh(class, d, lookup)
	}
	return len(deliveries), nil
}

// refresh looks at what one message points to.
func (p *Pickup) refresh(class string, d Delivery, lookup func(string) (Ticket, bool)) {
	id, r := d.Ticket.InstanceID, receipt{class, d.Receipt}
	stripe := p.stripe(id)
	for {
		p.mu.Lock()
		before := p.changes[stripe]
		p.mu.Unlock()
		t, ok := lookup(id)
		if p.settle(stripe, before, r, t, ok) {
			return
		}
	}
}

// settle acts on a lookup, unless a Put or Drop since count before may have made it untrue.
func (p *Pickup) settle(stripe int, before uint64, r receipt, t Ticket, ok bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes[stripe] != before {
		return false
	}
	p.stats.Received++
	var e *entry
	if ok {
		e = p.put(t)
	}
	if e == nil {
		p.stats.Stale++
		p.discards.add(r.class, r.handle)
		return true
	}
	if len(e.receipts) == maxReceipts {
		p.discards.add(e.receipts[0].class, e.receipts[0].handle)
		e.receipts = slices.Delete(e.receipts, 0, 1)
	}
	e.receipts = append(e.receipts, r)
	return true
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
