package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
)

// Result says when to look at a key again. Zero: when something adds it.
type Result struct{ After time.Duration }

// sooner returns the earlier of two wake-ups.
func (r Result) sooner(after time.Duration) Result {
	if after <= 0 {
		after = time.Millisecond // past already: at once, but never "not at all"
	}
	if r.After == 0 || after < r.After {
		r.After = after
	}
	return r
}

// wakeAt returns the wake-up for an instant.
func wakeAt(at, now time.Time) Result {
	if at.IsZero() {
		return Result{}
	}
	return Result{}.sooner(at.Sub(now))
}

// Backoff of a key that keeps failing. There is no global bucket: one bad key delays no other.
const (
	backoffFirst = 5 * time.Millisecond
	backoffMax   = 30 * time.Second

	// againFirst is the first pause after what is no failure, such as a conflict: the other writer is done by then.
	againFirst = time.Millisecond

	// writeFor bounds one write, so that a worker does not block other keys. The lease allows half of this time.
	writeFor = time.Second
	// The pauses after unconfirmed writes are long, so that many failing items still leave workers for other keys.
	rewriteFirst = 250 * time.Millisecond
	rewriteMax   = 5 * time.Second
)

// controller runs one reconcile function over one queue.
type controller[K comparable] struct {
	queue     queue[K]
	again     workqueue.TypedRateLimiter[K] // pauses after conflicts
	rewrite   workqueue.TypedRateLimiter[K] // pauses after unconfirmed writes
	reconcile func(context.Context, K) (Result, error)
	slots     *slots
	log       *slog.Logger
	limited   *limitedLog
}

// queue holds the keys of one kind that are to be looked at.
type queue[K comparable] struct {
	workqueue.TypedRateLimitingInterface[K]
	name string // in metrics, and of the component that works on it in the log
}

func newQueue[K comparable](name string, clk clock.WithTicker, metrics workqueue.MetricsProvider) queue[K] {
	return queue[K]{workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[K](backoffFirst, backoffMax),
		workqueue.TypedRateLimitingQueueConfig[K]{Name: name, Clock: clk, MetricsProvider: metrics}), name}
}

// newController returns the controller that carries reconcile out for the keys of q, workers at a time.
func newController[K comparable](q queue[K], workers int, clk clock.WithTicker, log *slog.Logger, reconcile func(context.Context, K) (Result, error)) *controller[K] {
	log = log.With(logkey.Component, q.name)
	return &controller[K]{
		queue:     q,
		again:     workqueue.NewTypedItemExponentialFailureRateLimiter[K](againFirst, backoffMax),
		rewrite:   workqueue.NewTypedItemExponentialFailureRateLimiter[K](rewriteFirst, rewriteMax),
		reconcile: reconcile,
		slots:     newSlots(workers),
		log:       log,
		limited:   newLimitedLog(log, clk),
	}
}

// run works until ctx ends and every call it made has returned.
func (c *controller[K]) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.queue.ShutDown)
	defer stop()
	var looks errgroup.Group
	for {
		slot := c.slots.take()
		key, closed := c.queue.Get()
		if closed {
			slot.leave()
			return looks.Wait()
		}
		looks.Go(func() error {
			defer slot.leave()
			defer c.queue.Done(key)
			c.look(context.WithValue(ctx, slotKey{}, slot), key)
			return nil
		})
	}
}

// look handles one key. It is the one place that turns an outcome into queue calls.
func (c *controller[K]) look(ctx context.Context, key K) {
	if ctx.Err() != nil {
		return // stopping: the queue only empties itself
	}
	res, err := c.reconcile(ctx, key)
	if ctx.Err() != nil {
		return // stopping, and so it failed
	}
	rule := ruleFor(err)
	switch {
	case err == nil:
		c.queue.Forget(key)
		c.again.Forget(key)
		c.rewrite.Forget(key)
		if res.After > 0 {
			c.queue.AddAfter(key, res.After)
		}
	case rule.then == stop:
		c.queue.Forget(key)
		c.again.Forget(key)
		c.rewrite.Forget(key)
		c.limited.Error("a key was given up: its decision breaks a rule, which is a bug", rule.when.Error(), fmt.Sprint(key), err)
	case rule.then == again:
		c.queue.Forget(key)
		c.queue.AddAfter(key, c.again.When(key))
		c.log.Debug("will look again", logkey.Key, key, logkey.Error, err)
	case rule.then == rewrite:
		c.queue.AddAfter(key, c.rewrite.When(key))
		c.log.Warn("write not confirmed; the controller reads the record and retries", logkey.Key, key, logkey.Error, err)
	case rule.then == retryAfter:
		c.queue.Forget(key)
		c.queue.AddAfter(key, rule.wait)
		c.log.Debug("will look again", logkey.Key, key, logkey.Error, err)
	default:
		c.queue.AddRateLimited(key)
		c.log.Warn("reconciling a key failed; it is retried", logkey.Key, key, logkey.Error, err)
	}
}
