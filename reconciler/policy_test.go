package reconciler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H12: every kind of error of the contracts has the action the design wants, however deep it is
// wrapped. A passing error of the store backs off; it never looks like a lost race.
func TestPolicy_EveryKind_H12(t *testing.T) {
	for _, tc := range []struct {
		err    error
		then   action
		wait   time.Duration
		reason string
	}{
		{store.ErrConflict, again, 0, "read again, soon; one that lasts must not turn"},
		{errStale, again, 0, "decide again"},
		{&store.ConflictError{}, again, 0, "read again"},
		{store.ErrExpired, again, 0, "its own key ends it"},
		{store.ErrNotLeader, retryAfter, 100 * time.Millisecond, "the lease is renewed four times per TTL"},
		{store.ErrInvalid, stop, 0, "a bug"},
		{store.ErrNotFound, backOff, 0, "perhaps later"},
		{store.ErrUnavailable, backOff, 0, "perhaps later"},
		{store.ErrUnconfirmed, rewrite, 0, "the table takes no write of one item"},
		{fleet.ErrThrottled, retryAfter, 2 * time.Second, "buckets refill"},
		{fleet.ErrNoCapacity, retryAfter, 30 * time.Second, "time, not speed"},
		{fleet.ErrUnsatisfiable, backOff, 0, "is an answer to its requests before it gets here"},
		{fleet.ErrRefused, backOff, 0, "the same"},
		{githubapi.ErrThrottled, retryAfter, 10 * time.Second, "the budget refills over minutes"},
		{githubapi.ErrUnavailable, retryAfter, 2 * time.Second, "GitHub's"},
		{githubapi.ErrRefused, retryAfter, 10 * time.Second, "an operator's"},
		{githubapi.ErrBusy, retryAfter, 500 * time.Millisecond, "a job runs"},
		{githubapi.ErrNameTaken, backOff, 0, "five names in a row are a mystery"},
		{statemachine.ErrNoRule, stop, 0, "a bug"},
		{errUnknown, backOff, 0, "unknown"},
		{nil, backOff, 0, "not asked for success"},
	} {
		wrapped := tc.err
		if tc.err != nil {
			wrapped = fmt.Errorf("instance i-1: %w", errors.Join(fmt.Errorf("put: %w", tc.err)))
		}
		if got := ruleFor(wrapped); got.then != tc.then || got.wait != tc.wait {
			t.Errorf("ruleFor(%v) = %d, %s, want %d, %s: %s", wrapped, got.then, got.wait, tc.then, tc.wait, tc.reason)
		}
	}
}

// Of several errors at once the first row of the table decides, not the order of the errors.
func TestPolicy_FirstRowWins(t *testing.T) {
	for _, err := range []error{
		errors.Join(githubapi.ErrThrottled, store.ErrConflict), errors.Join(store.ErrConflict, githubapi.ErrThrottled),
		errors.Join(statemachine.ErrNoRule, store.ErrConflict),
	} {
		if got := ruleFor(err); got.then != again || got.wait != 0 {
			t.Errorf("ruleFor(%v) = %d, %s, want the conflict's", err, got.then, got.wait)
		}
	}
}
