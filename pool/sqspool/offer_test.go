package sqspool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
)

// offerAll offers n messages at once and returns the error of each.
func offerAll(ctx context.Context, p pool.Pool, n int) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = p.Offer(ctx, ticket(i)) })
	}
	all.Wait()
	return errs
}

// Who gives up takes no one else's message along, and an SQS that does not answer is reported to all who wait.
func TestOffer_GivingUp(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var dead atomic.Bool
		p := openWire(t, &wire{answer: found(func(string, body) any {
			if dead.Load() {
				return silence{}
			}
			time.Sleep(time.Second)
			return sent
		})})
		hasty, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if err := p.Offer(hasty, ticket(1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Offer with a context of 500 ms: error = %v", err)
			}
		})
		all.Go(func() { offer(t, p, 2) })
		all.Wait()
		dead.Store(true)
		start := time.Now()
		for _, err := range offerAll(t.Context(), p, 50) {
			if err == nil {
				t.Error("Offer without an answer: got no error")
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("all know after %s, want 10 s at most", took)
		}
	})
}

// Close ends an Offer that waits.
func TestClose_EndsOffer(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := openWire(t, &wire{answer: found(func(string, body) any { return silence{} })})
		time.AfterFunc(time.Second, func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		for _, err := range offerAll(t.Context(), p, 20) {
			if err == nil {
				t.Error("Offer to a pool that was closed meanwhile: got no error")
			}
		}
	})
}
