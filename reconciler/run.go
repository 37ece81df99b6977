package reconciler

import (
	"errors"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// run is one request: its records and what was observed of its client. Guarded by the lock of requestRecords.
type run struct {
	id          store.RequestID
	changed     bool // a notification or a scan says that it changed
	request     *store.RunRequest
	bad         *store.BadRequest // what is stored as its request now, if that cannot be read
	status      *store.RunStatus
	client      client
	launching   launching
	lastProblem string    // last thing that went wrong, for its message
	progressAt  time.Time // last progress written
	noted       noted     // of its history, for the next write
	demanded    int       // the highest attempt that the demand of its day has; 0: none
}

// client is what was seen of who waits for a request.
type client struct {
	seen    store.Time // its last sign of life, its clock
	changed time.Time  // when that last changed, our clock
	reads   int        // successful reads since
	readAt  time.Time  // the last of them
}

// launching is what the fleet says of a request's launches.
type launching struct {
	never    string    // the reason why it will not launch what is asked for; "": it may
	full     bool      // it has no room, and none is waited for
	possible bool      // it has types for it
	passed   bool      // its history says which candidates it left alone
	refusals int       // in a row
	ended    int       // the number of launches whose instances all ended at their start
	retry    time.Time // not before: it was refused
	spared   int       // machines replaced that may have been GitHub's fault: they count for no launch budget
}

// expire drops records whose time is over: the table counts them as absent, and a new one begins with
// version 1 again.
func (r *run) expire(now time.Time) {
	if r.request != nil && past(r.request.ExpiresAt, now) {
		r.request = nil
	}
	if r.status != nil && past(r.status.ExpiresAt, now) {
		r.status = nil
	}
}

// refused reports whether the request is refused because its run has too many requests.
func (r *run) refused() bool { return r.bad != nil && errors.Is(r.bad.Err, errTooMany) }

// accepted reports whether a controller has accepted the request, and it is not over. A request that is answered with its refusal is
// Pending, too, for a moment; it has no time to wait.
func (r *run) accepted() bool {
	return r.status != nil && (r.status.Phase == statemachine.Ready || r.status.Phase == statemachine.Pending && r.status.Deadline.After(r.status.PendingAt.Time))
}

func (r *run) alive(attempt int) bool {
	if r.request == nil || r.status == nil || r.request.Attempt != attempt || r.status.Attempt != attempt || r.request.Released() {
		return false
	}
	return r.status.Phase == statemachine.Pending || r.status.Phase == statemachine.Ready
}

// asksMore reports whether the client wants something that the status does not say yet: another attempt, or that
// one which failed, and was left to expire, is given back.
func (r *run) asksMore() bool {
	return r.request.Attempt > r.status.Attempt || r.request.Released() && r.status.Phase != statemachine.PhaseReleased
}

// past reports whether an expiry is set and reached.
func past(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }
