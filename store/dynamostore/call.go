package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/store"
)

// Longest time one try may take. An item's call takes milliseconds (docs/goals.md: 7.5 ms, p99 twice that), so
// a reply that is two seconds late is lost, and asking again is what helps. A page is a megabyte, and what
// it costs the server grows with it.
const (
	itemTimeout  = 2 * time.Second
	pageTimeout  = 30 * time.Second
	queueTimeout = 5 * time.Second
	adminTimeout = 15 * time.Second
)

// Tries of a read. A single one is repeated soon, since its caller decides what next: four tries span
// about a fifth of a second. A scan that gives up begins anew with thousands of items, and a table under
// load throttles for seconds: ten tries span about ten seconds. A notification is a hint.
const (
	getTries    = 4
	scanTries   = 10
	notifyTries = 2
)

// firstPause and lastPause bound the pause between two tries: DynamoDB's partitions refill by the second.
const (
	firstPause = 25 * time.Millisecond
	lastPause  = 2 * time.Second
)

// pauses returns a fresh sequence of pauses without end.
func pauses() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstPause),
		backoff.WithMultiplier(2), backoff.WithMaxInterval(lastPause), backoff.WithMaxElapsedTime(0))
}

// upTo returns growing pauses between a number of tries. Reset begins anew.
func upTo(tries uint64) backoff.BackOff { return backoff.WithMaxRetries(pauses(), tries-1) }

// repeat calls try while it fails with store.ErrUnavailable, as pauses allow.
func repeat(ctx context.Context, pauses backoff.BackOff, try func() error) error {
	once := func() error {
		err := try()
		if err != nil && !errors.Is(err, store.ErrUnavailable) {
			return backoff.Permanent(err)
		}
		return err
	}
	return backoff.Retry(once, backoff.WithContext(pauses, ctx))
}

// bounded makes one try of an SDK call that may take limit, and gives its error a kind of package store and
// the operator's words. name is the call as policies name it.
func bounded[I, O, Option any](ctx context.Context, limit time.Duration, name, resource string,
	call func(context.Context, I, ...Option) (O, error), in I, options ...Option) (O, error) {
	bound, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := call(bound, in, options...)
	if err != nil && ctx.Err() == nil && bound.Err() != nil {
		err = fmt.Errorf("no answer within %s", limit) // our limit is no deadline of the caller's
	}
	return out, classified(awserr.Explain(err, name, resource))
}

// classified gives err its kind. Whatever says nothing definite is store.ErrUnavailable, a throttled
// call too: what helps is the same.
func classified(err error) error {
	kind := store.ErrUnavailable
	switch awserr.ClassOf(err) {
	case awserr.None:
		return nil
	case awserr.Invalid:
		kind = store.ErrInvalid
	case awserr.Denied, awserr.NotFound:
		kind = store.ErrRefused
	case awserr.Throttled, awserr.Unavailable, awserr.Exists:
	}
	if errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
