package reconciler

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// Services that the controller calls, beside the store, of which the elector says whether it answers.
const (
	serviceGitHub = "github"
	serviceFleet  = "fleet"
)

// outageAfter is how long a service must have failed until it is news: what fails once and succeeds when it is tried
// again, 2 s later (policy), is none.
const outageAfter = 2 * time.Second

// maxOutageText bounds what an error says in a status, in bytes: GitHub's refusals with what can be done about them have
// up to 350.
const maxOutageText = 400

// outage is a service that does not serve at present.
type outage struct {
	reason string // one of the Reason constants
	since  time.Time
	text   string // what it is, until when if it is said, and an error
	said   string // that error: each call has its own, and each other text is written for all who wait
	saidAt time.Time
}

// outages knows which services do not serve. It says so in the log once, and once when they do again.
type outages struct {
	clock clock.PassiveClock
	log   *slog.Logger

	mu       sync.Mutex
	failing  map[string]outage
	reported map[string]string // services whose outage was logged, and its reason
}

func newOutages(clk clock.PassiveClock, log *slog.Logger) *outages {
	return &outages{clock: clk, log: log, failing: map[string]outage{}, reported: map[string]string{}}
}

// meanings are what outages are, and what they mean to those who read the log.
var meanings = map[string]struct{ what, means string }{
	ReasonGitHubDown:      {"GitHub does not answer", "runners cannot be registered or deleted until it does; jobs that run go on"},
	ReasonGitHubLocal:     {"GitHub is not reached from here", "runners cannot be registered or deleted until an operator repairs what the error names; running jobs continue"},
	ReasonGitHubThrottled: {"GitHub takes no calls for a while", "new runners wait until it does; jobs that run go on"},
	ReasonGitHubRefuses:   {"GitHub refuses", "nothing is registered until an operator repairs the credentials or their permissions"},
	ReasonFleetDown:       {"the fleet does not answer", "nothing is launched or ended until it does; machines that live go on"},
	ReasonFleetThrottled:  {"the fleet takes no calls for a while", "launches and ends wait until it does"},
}

// outageOf returns the reason that an error of a service is, "" if the service has answered.
func outageOf(service string, err error) string {
	switch {
	case err == nil:
		return ""
	case service == serviceGitHub && errors.Is(err, githubapi.ErrThrottled):
		return ReasonGitHubThrottled
	case service == serviceGitHub && errors.Is(err, githubapi.ErrLocal):
		return ReasonGitHubLocal
	case service == serviceGitHub && errors.Is(err, githubapi.ErrRefused):
		return ReasonGitHubRefuses
	case service == serviceGitHub && errors.Is(err, githubapi.ErrUnavailable):
		return ReasonGitHubDown
	case service == serviceGitHub, errors.Is(err, fleet.ErrNoCapacity), errors.Is(err, fleet.ErrUnsatisfiable), errors.Is(err, fleet.ErrRefused):
		return "" // an answer
	case errors.Is(err, fleet.ErrThrottled):
		return ReasonFleetThrottled
	}
	return ReasonFleetDown
}

// note takes the outcome of a call made with ctx. One that we cut off says nothing of the service.
func (o *outages) note(ctx context.Context, service string, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	reason := outageOf(service, err)
	now := o.clock.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	was, failing := o.failing[service]
	if reason == "" {
		delete(o.failing, service)
		if o.reported[service] != "" {
			delete(o.reported, service)
			o.log.Info("a service serves again", logkey.Resource, service, logkey.Seconds, now.Sub(was.since).Seconds())
		}
		return
	}
	if !failing || was.reason != reason {
		was = outage{reason: reason, since: now}
	}
	if now.Sub(was.saidAt) >= besideEvery {
		was.said, was.saidAt = store.Head(err.Error(), maxOutageText), now
	}
	was.text = meanings[reason].what
	if at, said := githubapi.RetryAt(err); said {
		was.text += " until " + at.UTC().Format(time.TimeOnly) + " UTC"
	}
	was.text += ": " + was.said
	o.failing[service] = was
	if o.reported[service] != reason && now.Sub(was.since) >= outageAfter {
		o.reported[service] = reason
		o.log.Warn("a service does not serve", logkey.Resource, service, logkey.Reason, reason, logkey.Detail, meanings[reason].means, logkey.Error, was.text)
	}
}

// noter notes the outcomes of one service's calls.
func (o *outages) noter(service string) func(context.Context, error) {
	return func(ctx context.Context, err error) { o.note(ctx, service, err) }
}

// of returns the outage of a service, if it has one.
func (o *outages) of(service string) (outage, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out, failing := o.failing[service]
	return out, failing
}

// lasting returns the outage of a service that is news; the zero Outage if there is none.
func (o *outages) lasting(service string) store.Outage {
	out, is := o.of(service)
	if !is || o.clock.Since(out.since) < outageAfter {
		return store.Outage{}
	}
	return store.Outage{Reason: out.reason, Since: store.At(out.since), Detail: out.said}
}

// OutageText describes a store.Outage for people: the meaning of its reason, or else the reason code, and the error.
func OutageText(o store.Outage) string {
	text := cmp.Or(meanings[o.Reason].what, o.Reason)
	if o.Detail != "" {
		text += " (" + o.Detail + ")"
	}
	return text
}

// watchedFleet notes whether the fleet answers.
type watchedFleet struct {
	fleet.Fleet
	note func(ctx context.Context, err error) // of the outcome of each call
}

// Plan is fleet.Fleet's.
func (f watchedFleet) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	out, err := f.Fleet.Plan(ctx, s)
	f.note(ctx, err)
	return out, err
}

// Launch is fleet.Fleet's.
func (f watchedFleet) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	out, err := f.Fleet.Launch(ctx, p)
	f.note(ctx, err)
	return out, err
}

// Terminate is fleet.Fleet's.
func (f watchedFleet) Terminate(ctx context.Context, ids ...string) error {
	err := f.Fleet.Terminate(ctx, ids...)
	f.note(ctx, err)
	return err
}

// List is fleet.Fleet's.
func (f watchedFleet) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	out, err := f.Fleet.List(ctx, token)
	f.note(ctx, err)
	return out, err
}
