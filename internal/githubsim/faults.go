package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Mode is a way to be out of order.
type Mode string

// The modes.
const (
	Up    Mode = ""
	Fails Mode = "fails" // answered with 503 at once
	Hangs Mode = "hangs" // no answer until the caller gives up or the outage ends (see await)
	Lost  Mode = "lost"  // carried out, but the answer is lost
	// Revoked refuses the client's credential; runners have their own, and go on.
	Revoked Mode = "revoked"
)

// Outage puts some calls out of order. An empty Calls means all of them.
type Outage struct {
	Mode  Mode   `json:"mode"`
	Calls []Call `json:"calls,omitempty"`
}

func (o Outage) covers(c Call) bool {
	return o.Mode != Up && (o.Mode != Revoked || c.client()) && (len(o.Calls) == 0 || slices.Contains(o.Calls, c))
}

// errRevoked is the answer to a credential that was revoked.
var errRevoked = fmt.Errorf("bad credentials: %w: %w", ErrUnauthorized, githubapi.ErrRefused)

// admission is what stands between a call and its effect.
type admission struct {
	monitor   *monitor
	calls     map[Call]int
	unchanged map[Call]int // those of them that were answered with 304
	latency   Latency
	outage    Outage
	services  map[Service]disruption
	limits    map[string]*window // by resource
}

// SetOutage replaces the current outage; the zero value ends it.
func (h *Hub) SetOutage(o Outage) {
	h.monitor.change(func(time.Time) { h.admission.outage = Outage{Mode: o.Mode, Calls: slices.Clone(o.Calls)} })
}

// SetLatency replaces the latencies for calls made from now on.
func (h *Hub) SetLatency(l Latency) {
	h.monitor.change(func(time.Time) { h.admission.latency = l })
}

// SetDeprecated makes the service refuse messages to every runner, as it does to outdated ones; polls in
// progress end at once.
func (h *Hub) SetDeprecated(on bool) {
	h.monitor.change(func(time.Time) {
		h.sessions.obsolete = on
		h.sessions.wakeAll()
	})
}

// Resources that the service limits, as it names them in X-RateLimit-Resource.
const (
	ResourceCore         = "core"
	ResourceRegistration = "actions_runner_registration"
)

// resourceApp is the budget of an App itself, apart from that of its installation.
const resourceApp = "core of the app"

func (c Call) resource() string {
	switch c {
	case CallToken, CallJIT:
		return ResourceRegistration
	case CallInstallation, CallAppToken:
		return resourceApp
	case CallList, CallGet, CallDelete, CallLabel, CallConvert, CallGroups, CallDeprecation,
		CallRuns, CallRun, CallRunJobs, CallCancelRun, CallRerun, CallRerunFailed, CallRerunJob, CallCheckRuns, CallLeaveCheckRun,
		CallRegister, CallRemove, CallConnect, CallPoll, CallAcquire, CallComplete, CallLogs:
	}
	return ResourceCore
}

// RateLimit allows Limit calls of a resource in each Window, the first of which starts when it is
// set. It concerns the client's calls only.
type RateLimit struct {
	Limit  int           `json:"limit"`
	Window time.Duration `json:"window"`
	// Status is 403 or 429; the real service answers with either. 0 means 403.
	Status int `json:"status,omitempty"`
	// Secondary answers in the form of a secondary limit: Retry-After and no remaining count.
	Secondary bool `json:"secondary,omitempty"`
}

type window struct {
	RateLimit
	start time.Time
	used  int
}

// at moves w to the window that now lies in and returns when that one ends.
func (w *window) at(now time.Time) time.Time {
	if n := now.Sub(w.start) / w.Window; n > 0 {
		w.start, w.used = w.start.Add(n*w.Window), 0
	}
	return w.start.Add(w.Window)
}

// room returns the refusal of what costs more than is left; nil of a limit that is not there.
func (w *window) room(resource string, cost int, now time.Time) error {
	if w == nil {
		return nil
	}
	if reset := w.at(now); w.used+cost > w.Limit {
		return &RateLimitError{Resource: resource, Limit: w.RateLimit, Reset: reset}
	}
	return nil
}

func (w *window) use(cost int) {
	if w != nil {
		w.used += cost
	}
}

// SetRateLimit replaces the limit of one resource; a window of 0 removes it.
func (h *Hub) SetRateLimit(resource string, l RateLimit) {
	h.monitor.change(func(now time.Time) {
		if l.Window <= 0 {
			delete(h.admission.limits, resource)
			return
		}
		if l.Status == 0 {
			l.Status = http.StatusForbidden
		}
		h.admission.limits[resource] = &window{RateLimit: l, start: now}
	})
}

// RateLimitError is the refusal of a call over a limit. It wraps githubapi.ErrThrottled.
type RateLimitError struct {
	Resource string
	Limit    RateLimit
	Reset    time.Time
}

func (e *RateLimitError) Error() string {
	return fmt.Sprintf("%s: %d calls per %s are used up", e.Resource, e.Limit.Limit, e.Limit.Window)
}

// Unwrap returns the kind.
func (e *RateLimitError) Unwrap() error { return githubapi.ErrThrottled }

// rate reports the budget that a resource has left, for the answer's headers.
func (a *admission) rate(resource string) (limit, left int, reset time.Time, limited bool) {
	a.monitor.mu.Lock()
	defer a.monitor.mu.Unlock()
	w := a.limits[resource]
	if w == nil {
		return 0, 0, time.Time{}, false
	}
	reset = w.at(a.monitor.clock.Now())
	return w.Limit, w.Limit - w.used, reset, !w.Secondary
}

// admit counts a call and returns an error if an outage or a limit stands in its way. Slow means that a
// client would have given it up by now, though it is carried out.
func (a *admission) admit(ctx context.Context, c Call) (slow bool, err error) {
	a.monitor.mu.Lock()
	a.calls[c]++
	if !c.reads() {
		a.monitor.broadcast()
	}
	wait := a.latency.Session
	switch {
	case c.client():
		wait = a.latency.API
	case c == CallPoll, c == CallAcquire, c == CallComplete, c == CallLogs:
		wait = 0
	}
	slow = c.client() && wait > githubapi.CallTimeout
	if slow {
		wait = githubapi.CallTimeout
	}
	a.monitor.mu.Unlock()
	if wait > 0 {
		t := a.monitor.clock.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C():
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	if err := a.await(ctx, c); err != nil {
		return false, err
	}
	if err := a.serve(ctx, c.services()...); err != nil {
		return false, err
	}
	a.monitor.mu.Lock()
	defer a.monitor.mu.Unlock()
	if !c.client() {
		return slow, ctx.Err()
	}
	if err := a.charge(c); err != nil {
		return false, err
	}
	return slow, ctx.Err()
}

// charge counts a client's call against its limits, unless one of them is reached. The caller holds the lock.
func (a *admission) charge(c Call) error {
	primary, secondary := a.limits[c.resource()], a.limits[resourceSecondary]
	if err := primary.room(c.resource(), 1, a.monitor.clock.Now()); err != nil {
		return err
	}
	if err := secondary.room(resourceSecondary, c.points(), a.monitor.clock.Now()); err != nil {
		return err
	}
	primary.use(1)
	secondary.use(c.points())
	return nil
}

// await returns once no outage stands in c's way, or an error. A client's call waits no longer than
// a *githubapi.Client would.
func (a *admission) await(ctx context.Context, c Call) error {
	var patience time.Time
	if c.client() {
		patience = a.monitor.clock.Now().Add(githubapi.CallTimeout)
	}
	for {
		a.monitor.mu.Lock()
		out, changed, now := a.outage, a.monitor.changed, a.monitor.clock.Now()
		a.monitor.mu.Unlock()
		switch {
		case !out.covers(c) || out.Mode == Lost:
			return nil
		case out.Mode == Revoked:
			return errRevoked
		case out.Mode == Fails:
			return fmt.Errorf("out of order: %w", githubapi.ErrUnavailable)
		case !patience.IsZero() && !now.Before(patience):
			return fmt.Errorf("no answer: %w", githubapi.ErrUnavailable)
		}
		if err := a.monitor.pause(ctx, changed, patience, now); err != nil {
			return fmt.Errorf("no answer: %w: %w", githubapi.ErrUnavailable, err)
		}
	}
}

// loses reports whether an outage keeps the answer to a call back. The caller holds the lock.
func (a *admission) loses(c Call) bool { return a.outage.covers(c) && a.outage.Mode == Lost }
