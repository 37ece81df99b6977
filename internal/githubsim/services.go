package githubsim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Service is a part of GitHub that only runners use. Each has an address of its own at the real GitHub, and
// may be out of order while the REST API and the others are up.
type Service string

// The services (actions/runner, src/Runner.Common: BrokerServer.cs, RunServer.cs, ResultsServer.cs; src/Sdk/
// WebApi/WebApi/OAuth).
const (
	Broker  Service = "broker"  // sessions and messages
	OAuth   Service = "oauth"   // the access tokens that sessions are made and polled with
	Run     Service = "run"     // gives a job to the runner that was offered it, and learns how it ended
	Results Service = "results" // takes logs
)

// Services returns all of them.
func Services() []Service { return []Service{Broker, OAuth, Run, Results} }

// Trouble is how a service is out of order.
type Trouble string

// The troubles: a status that it answers with, or no answer at all.
const (
	NoTrouble Trouble = ""
	Answer403 Trouble = "403"
	Answer429 Trouble = "429"
	Answer500 Trouble = "500"
	Answer503 Trouble = "503"
	Refuse    Trouble = "refuse" // nothing listens there
	Drop      Trouble = "drop"   // connections are taken and closed
	Hang      Trouble = "hang"   // connections are taken; what was asked is done once the trouble is over
)

// Troubles returns all of them.
func Troubles() []Trouble {
	return []Trouble{Answer403, Answer429, Answer500, Answer503, Refuse, Drop, Hang}
}

// Status is the trouble's HTTP status; 0 if there is no answer.
func (t Trouble) Status() int {
	status, _ := strconv.Atoi(string(t)) // 0 if it is no answer
	return status
}

// ErrForbidden is the kind of a service that knows who asks, and answers 403.
var ErrForbidden = errors.New("github sim: forbidden")

// ServiceError is the failure of a call to a service in trouble. It wraps ErrForbidden, or else
// githubapi.ErrUnavailable.
type ServiceError struct {
	Service Service `json:"service"`
	Trouble Trouble `json:"trouble"`
}

func (e *ServiceError) Error() string {
	if text := http.StatusText(e.Trouble.Status()); text != "" {
		return fmt.Sprintf("%s service: %s", e.Service, text)
	}
	return fmt.Sprintf("%s service: %s", e.Service, map[Trouble]string{
		Refuse: "connection refused", Drop: "connection closed without an answer", Hang: "no answer",
	}[e.Trouble])
}

// Unwrap returns the kind.
func (e *ServiceError) Unwrap() error {
	if e.Trouble == Answer403 {
		return ErrForbidden
	}
	return githubapi.ErrUnavailable
}

// disruption is a service's trouble; until is zero if only another call of SetTrouble ends it.
type disruption struct {
	trouble Trouble
	until   time.Time
}

// SetTrouble puts a service out of order, for d or, if d is not positive, until it is called again. Polls
// in progress meet the broker's trouble at once.
func (h *Hub) SetTrouble(s Service, t Trouble, d time.Duration) {
	h.monitor.with(func(now time.Time) {
		out := disruption{trouble: t}
		if d > 0 {
			out.until = now.Add(d)
		}
		h.admission.services[s] = out
		h.monitor.broadcast()
		h.sessions.wakeAll()
	})
}

// troubleOf returns what stands in the way of a service's calls, and until when. The caller holds the lock.
func (a *admission) troubleOf(s Service, now time.Time) (Trouble, time.Time) {
	d := a.services[s]
	if !d.until.IsZero() && !now.Before(d.until) {
		return NoTrouble, time.Time{}
	}
	return d.trouble, d.until
}

// services returns what a call needs, in the order of need. A poll needs a token only once its own is due,
// see Session.Next.
func (c Call) services() []Service {
	switch c {
	case CallConnect:
		return []Service{OAuth, Broker}
	case CallPoll:
		return []Service{Broker}
	case CallAcquire, CallComplete:
		return []Service{Run}
	case CallLogs:
		return []Service{Results}
	case CallToken, CallJIT, CallList, CallGet, CallDelete, CallLabel, CallInstallation, CallAppToken, CallConvert, CallGroups, CallDeprecation,
		CallRuns, CallRun, CallRunJobs, CallCancelRun, CallRerun, CallRerunFailed, CallRerunJob, CallCheckRuns, CallLeaveCheckRun,
		CallRegister, CallRemove:
	}
	return nil
}

// serve returns once the services serve, or with the trouble of the first that does not.
func (a *admission) serve(ctx context.Context, services ...Service) error {
	for _, s := range services {
		for {
			a.monitor.mu.Lock()
			now, changed := a.monitor.clock.Now(), a.monitor.changed
			t, until := a.troubleOf(s, now)
			a.monitor.mu.Unlock()
			if t == NoTrouble {
				break
			}
			if t != Hang {
				return &ServiceError{s, t}
			}
			if err := a.monitor.pause(ctx, changed, until, now); err != nil {
				return err
			}
		}
	}
	return nil
}
