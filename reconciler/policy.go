package reconciler

import (
	"errors"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// action is what the queue does with a key after an error.
type action int

const (
	backOff action = iota
	again          // soon, and ever later while that lasts
	rewrite        // read and write the record again, with growing pauses while no write is confirmed
	retryAfter
	stop
)

// rule is what the queue does after one error.
type rule struct {
	when error
	then action
	wait time.Duration
}

// policy says what the queue does after an error. First match wins; no match backs off.
var policy = []rule{
	{store.ErrUnconfirmed, rewrite, 0},                       // the table refuses to write this item; no worker waits for it
	{store.ErrConflict, again, 0},                            // someone else wrote: read again, soon
	{store.ErrExpired, again, 0},                             // the instance is due: its own key ends it
	{store.ErrNotLeader, retryAfter, 100 * time.Millisecond}, // the lease is being renewed, or we are being stopped
	{fleet.ErrThrottled, retryAfter, 2 * time.Second},        // EC2 refills its buckets at 2/s
	{fleet.ErrNoCapacity, retryAfter, 30 * time.Second},      // the fleet needs time, not speed
	{githubapi.ErrThrottled, retryAfter, 10 * time.Second},   // the budget refills over minutes
	{githubapi.ErrUnavailable, retryAfter, 2 * time.Second},  // nothing of ours can cure it
	{githubapi.ErrLocal, retryAfter, 2 * time.Second},        // name resolution and proxies recover; other causes need an operator
	{githubapi.ErrRefused, retryAfter, 10 * time.Second},     // an operator must repair the credentials
	{errRetrying, retryAfter, 30 * time.Second},              // its agent notifies when it succeeds
	{githubapi.ErrBusy, retryAfter, 500 * time.Millisecond},  // a job still runs
	{statemachine.ErrNoRule, stop, 0},                        // a bug: a retry cannot cure it
	{store.ErrInvalid, stop, 0},                              // a bug: a retry cannot cure it
}

// ruleFor returns the first rule that an error meets.
func ruleFor(err error) rule {
	if at := slices.IndexFunc(policy, func(r rule) bool { return errors.Is(err, r.when) }); at >= 0 {
		return policy[at]
	}
	return rule{when: err, then: backOff}
}
