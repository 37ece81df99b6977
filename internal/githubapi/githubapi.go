// Package githubapi makes the calls to GitHub that remuda needs: runner registrations, listing
// and deleting runners, watching workflow runs and acting on them. Failures are sorted into a few
// kinds, so that callers never look at status codes.
//
// Client never repeats a call: its callers do, from their queues. It paces registrations to
// GitHub's budget and watching to a share of it, and while GitHub wants no calls it makes none;
// RetryAt says when to come back.
// Errors name the call and what an operator can do, and never a secret.
package githubapi

import (
	"errors"
	"fmt"
	"time"
)

// Error kinds. Callers test them with errors.Is.
var (
	// ErrBusy: the runner runs a job and cannot be deleted (422).
	ErrBusy = errors.New("github: runner is busy")
	// ErrGone: there is no such runner (404).
	ErrGone = errors.New("github: no such runner")
	// ErrNameTaken: a runner of that name exists already (409).
	ErrNameTaken = errors.New("github: runner name is taken")
	// ErrThrottled: a primary or secondary rate limit (403, 429), or a call not made to stay below it.
	ErrThrottled = errors.New("github: rate limited")
	// ErrUnavailable: no answer, or 5xx.
	ErrUnavailable = errors.New("github: unavailable")
	// ErrLocal means that a local cause kept the call from GitHub or replaced its answer by a web page: the credential, name resolution, TLS,
	// a proxy, an address. An operator must act, and GitHub may be available.
	ErrLocal = errors.New("github: a fault on this side")
	// ErrRefused: credentials or permission are wrong (401, 403, 404, other 4xx).
	ErrRefused = errors.New("github: refused")
)

// Runner is one self-hosted runner as GitHub lists it.
type Runner struct {
	ID     int64
	Name   string
	Online bool
	Busy   bool // lags by up to a minute
	Labels []string
}

// JIT is a registration for one job.
type JIT struct {
	RunnerID int64
	Config   string // secret: the encoded configuration
}

// String hides the secret.
func (j JIT) String() string { return fmt.Sprintf("jit config of runner %d", j.RunnerID) }

// Token is a registration token. It registers any number of runners until Expires.
type Token struct {
	Value   string // secret
	Expires time.Time
}

// String hides the secret.
func (t Token) String() string {
	return fmt.Sprintf("registration token until %s", t.Expires.UTC().Format(time.RFC3339))
}
