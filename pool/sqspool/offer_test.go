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

// Messages that are offered at once travel together: 101 take at most eleven calls, besides the one
// that left with the first. Each arrives once.
func TestOffer_TravelTogether(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		bodies := map[string]int{}
		w := &wire{answer: found(func(_ string, in body) any {
			time.Sleep(15 * time.Millisecond) // an SQS call, docs/goals.md
			for _, e := range in["Entries"].([]any) {
				bodies[e.(map[string]any)["MessageBody"].(string)]++
			}
			return sent(in)
		})}
		p := openWire(t, w)
		if err := errors.Join(offerAll(t.Context(), p, 101)...); err != nil {
			t.Error(err)
		}
		if n := w.count("SendMessageBatch"); n > 12 {
			t.Errorf("%d calls for 101 messages, want 12 at most", n)
		}
		for text, n := range bodies {
			if n != 1 {
				t.Errorf("sent %d times: %s", n, text)
			}
		}
		if len(bodies) != 101 {
			t.Errorf("%d messages arrive, want 101", len(bodies))
		}
	})
}

// Each caller learns what became of its own message.
func TestOffer_OneOfABatchFails(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		shared := 0 // calls with more than one message: how many come together is chance
		p := openWire(t, &wire{answer: found(func(_ string, in body) any {
			time.Sleep(15 * time.Millisecond)
			out := sent(in)
			if n := len(in["Entries"].([]any)); n > 1 {
				shared++
				out["Successful"] = out["Successful"].([]body)[2:]
				out["Failed"] = []body{{"Id": "0", "SenderFault": true, "Code": "InvalidMessageContents", "Message": "no"}} // and 1 is left out
			}
			return out
		})})
		failed := 0
		for _, err := range append(offerAll(t.Context(), p, 1), offerAll(t.Context(), p, 10)...) {
			if err != nil {
				failed++
				contains(t, err.Error(), "sqs:SendMessage on queue remuda-medium")
			}
		}
		if shared == 0 || failed != 2*shared {
			t.Errorf("%d callers got an error in %d shared calls, want two in each", failed, shared)
		}
	})
}

// Who gives up takes no one else's message along, and an SQS that does not answer is reported to all who
// wait at once.
func TestOffer_GivingUp(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var dead atomic.Bool
		p := openWire(t, &wire{answer: found(func(_ string, in body) any {
			if dead.Load() {
				return silence{}
			}
			time.Sleep(time.Second)
			return sent(in)
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
		if took := time.Since(start); took > 11*time.Second { // the hasty one's message may still be on its way
			t.Errorf("all know after %s, want 11 s at most", took)
		}
	})
}

// Close ends an Offer that waits, and waits for what Offer started.
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
