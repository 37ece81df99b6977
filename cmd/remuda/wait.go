package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/store"
)

// Times of a waiting client.
const (
	lookAtOnce  = 50 * time.Millisecond // a machine that listens ahead is ready within some 250 ms (docs/benchmarks.md)
	atOnceFor   = 500 * time.Millisecond
	lookSoon    = 100 * time.Millisecond // a warm start takes a fraction of a second
	lookLater   = time.Second            // for a cold one, that much more is little
	soonFor     = time.Minute
	pollMax     = 500 * time.Millisecond // between looks that read more than one record, and tries of a failed call
	notifyEvery = 3 * time.Second        // a lost notification costs no more than this
	hintAfter   = 5 * time.Second        // a controller answers in well under a second
	writeLimit  = 3 * time.Second        // of a request: then its trouble is shown, and the write repeated as it is
	callLimit   = 10 * time.Second       // longest time of one call: twice SQLite's busy timeout
)

// awaitAnswer is poll for a look that reads the status of a request: every 50 ms in the first half second of waiting, every 100 ms
// in the first minute, then every second.
func awaitAnswer(ctx context.Context, clk clock.WithTicker, look func(context.Context) (done bool, err error)) error {
	return paced(ctx, clk, look, func(waited time.Duration) time.Duration {
		switch {
		case waited < atOnceFor:
			return lookAtOnce
		case waited < soonFor:
			return lookSoon
		}
		return lookLater
	})
}

// poll calls look at once and then again and again, first every lookSoon, slowing down to pollMax,
// with a jitter of a fifth, until it reports done or an error, or ctx ends. Each call gets its own
// time limit, so that a store that hangs delays nothing else.
func poll(ctx context.Context, clk clock.WithTicker, look func(context.Context) (done bool, err error)) error {
	return paced(ctx, clk, look, func(waited time.Duration) time.Duration { // each pause is longer by half
		return min(lookSoon+waited/2, pollMax)
	})
}

// paced is poll with the pause before the next look by how long has been waited.
func paced(ctx context.Context, clk clock.WithTicker, look func(context.Context) (done bool, err error), pause func(waited time.Duration) time.Duration) error {
	start := clk.Now()
	for {
		call, cancel := context.WithTimeout(ctx, callLimit)
		done, err := look(call)
		cancel()
		switch {
		case done:
			return nil
		case ctx.Err() != nil:
			return ended(ctx)
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ended(ctx)
		case <-clk.After(jitter(pause(clk.Since(start)))):
		}
	}
}

// settle repeats call until it succeeds or fails for good. Meanwhile it shows the trouble.
func settle(ctx context.Context, clk clock.WithTicker, show *progress, what string, call func(context.Context) error) error {
	var trouble error
	var borne denials
	err := poll(ctx, clk, func(ctx context.Context) (bool, error) {
		trouble = call(ctx)
		if trouble == nil || definite(trouble) && !borne.bears(trouble, clk.Now()) {
			return trouble == nil, trouble
		}
		show.show(storeTrouble(what, trouble), "")
		return false, nil
	})
	return withTrouble(err, trouble)
}

// definite reports whether repeating a call that failed with err cannot help.
func definite(err error) bool {
	kinds := []error{store.ErrNotFound, store.ErrInvalid, store.ErrRefused, store.ErrOtherSpec, store.ErrOldAttempt, errReleased}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// A client retries denied calls for a short time, because IAM takes seconds to apply a changed role or policy.
const (
	denialsBorne = 3 // then the call fails
	denialPause  = 2 * time.Second
)

// denials counts how often a client was denied a call.
type denials struct {
	count int
	last  time.Time
}

// bears reports whether the caller should retry after err: a denial, and fewer than denialsBorne so far. Denials within denialPause count
// once. For any other error it returns false.
func (d *denials) bears(err error, now time.Time) bool {
	denied, ok := errors.AsType[*awserr.Error](err)
	if !ok || denied.Class != awserr.Denied {
		return false
	}
	if d.count == 0 || now.Sub(d.last) >= denialPause {
		d.count, d.last = d.count+1, now
	}
	return d.count < denialsBorne
}

// withTrouble adds to a time-out what the last call failed with.
func withTrouble(err, trouble error) error {
	if trouble == nil || !errors.Is(err, errTimedOut) {
		return err
	}
	return fmt.Errorf("%w (last call: %v)", err, trouble) //nolint:errorlint // the call's kind is not the outcome
}

// storeTrouble is the progress line while calls fail.
func storeTrouble(what string, err error) string {
	return fmt.Sprintf("%s  store does not answer: %v", what, err)
}

// ended says why ctx ended: our own limit, or an interruption, whatever signal caused it.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return errInterrupted
	}
	return context.Cause(ctx)
}

// jitter returns d ± 20 %, so that clients that started together do not call together for ever.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// every reports when something is due that is to happen once per period.
type every struct {
	period time.Duration
	next   time.Time
}

func (e *every) due(now time.Time) bool {
	if now.Before(e.next) {
		return false
	}
	e.next = now.Add(e.period)
	return true
}

// waitLimit ends ctx after d with a cause that says what was waited for.
func waitLimit(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, mark(errTimedOut, fmt.Errorf("%s: not done after %s", what, d)))
}
