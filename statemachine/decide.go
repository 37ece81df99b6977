package statemachine

import "time"

// Cloud is what the fleet says of an instance. Unknown is a value of its own: EC2 may not show a
// new instance yet, and a failed listing says nothing.
type Cloud int

// What the fleet may say.
const (
	Unknown Cloud = iota
	Present
	Gone
)

// Report is the last signal of the agent that matches the instance's run and assignment.
type Report int

// The reports, in the order of an assignment's life.
const (
	NoReport     Report = iota
	ScriptOK            // pre-runner script succeeded
	ScriptFailed        // pre-runner script failed: the machine is useless
	Online              // listener online under the run's label
	NextWanted          // its one-job registration is used up; it waits for the next
	Blocked             // registration failed for GitHub's reasons: throttled, unavailable
	RegFailed           // registration failed for its own reasons
	Clean               // runner gone, machine scrubbed
	Dirty               // runner not gone or machine not clean
)

// Facts is everything Decide looks at. Times are instants on the controller's clock.
type Facts struct {
	State     State
	Threshold time.Time
	Cloud     Cloud

	LastBeat time.Time // when a changed heartbeat was last seen; zero: none ever
	Reads    int       // successful reads since then
	Outage   bool      // the circuit breaker: too many went silent at once, so it is our outage

	Report   Report
	ReadAt   time.Time // when the report was last read successfully
	GateFrom time.Time // start of the running check: state entered, material delivered, last job ended
	Held     bool      // the check waits: GitHub is down, or a job of the last run still drains
	Pooled   bool
	// Unconfirmed: its listener was online for the request before its agent knew, and the agent has not said yet that it does.
	Unconfirmed bool
	Dismiss     bool // an order to go that may be carried out now

	Limits Limits
}

// Decision is the event that is due, or none and the instant to look again.
type Decision struct {
	Event  Event
	Reason string    // constant text for the record and the log
	Detail string    // detail of Reason, from the caller of Decide: why an instance is dismissed
	Read   bool      // a check is about to fail on an old reading: read the report again first
	Wake   time.Time // zero: nothing to wait for
}

// Reasons recorded with an event.
const (
	ReasonGone            = "the fleet says it is gone"
	ReasonSilent          = "no heartbeat"
	ReasonThreshold       = "threshold passed"
	ReasonDismissed       = "dismissed"
	ReasonDismissedAtOnce = "dismissed at once, by order"
	ReasonScript          = "pre-runner script failed"
	ReasonRegistration    = "registration failed"
	ReasonDirty           = "deregistration or scrub failed"
	ReasonGate            = "did not report ready in time"
	ReasonUnconfirmed     = "its agent did not take the assignment over in time"
	ReasonHandshake       = "did not report clean in time"
	ReasonClean           = "deregistered, scrubbed, clean"
)

// Decide says what is due at now, and when to look again. It reads no clock and does no I/O.
// A limit that is reached exactly has passed.
func Decide(f Facts, now time.Time) Decision {
	if f.State == Terminated || !f.State.Valid() {
		return Decision{}
	}
	if f.Cloud == Gone {
		return Decision{Event: Lost, Reason: ReasonGone}
	}
	if !now.Before(f.Threshold) {
		return Decision{Event: Expired, Reason: ReasonThreshold}
	}
	d := Decision{Wake: f.Threshold}
	if silent, at := f.silence(now); silent {
		return Decision{Event: Lost, Reason: ReasonSilent}
	} else if !at.IsZero() {
		d.wakeBy(at)
	}
	if f.Dismiss {
		return Decision{Event: Dismissed, Reason: ReasonDismissed}
	}
	if reason, failed := failures[f.Report]; failed {
		return Decision{Event: Rejected, Reason: reason}
	}
	if f.State == Idle && !f.Pooled && f.Report == Clean {
		return Decision{Event: Pooled, Reason: ReasonClean}
	}
	return f.gate(d, now)
}

// silence reports whether the instance has been silent for too long, and otherwise when to ask
// again. Two successful reads without a change are needed: one may have been stale. While those
// are missing, or the circuit breaker is open, the question comes back one window later: nothing else would
// bring it back, since neither a silent instance nor its unchanged record wakes anyone.
func (f Facts) silence(now time.Time) (bool, time.Time) {
	if f.LastBeat.IsZero() {
		return false, time.Time{}
	}
	limit := f.Limits.Silence
	if f.State == Running {
		limit = f.Limits.RunningSilence
	}
	at := f.LastBeat.Add(limit)
	switch {
	case now.Before(at):
		return false, at
	case f.Outage || f.Reads < 2:
		return false, now.Add(f.Limits.Window())
	default:
		return true, time.Time{}
	}
}

// failures are the reports that reject the instance whatever the time, and why.
var failures = map[Report]string{ScriptFailed: ReasonScript, RegFailed: ReasonRegistration, Dirty: ReasonDirty}

// gate applies the time limit of the check that the state is waiting for, if any.
func (f Facts) gate(d Decision, now time.Time) Decision {
	var limit time.Duration
	reason := ReasonGate
	switch {
	case f.Held || f.Report == Blocked || f.Unconfirmed && f.Outage:
		return d
	case f.State == Created && f.Report != Online:
		limit = f.Limits.CreateGate
	case f.Unconfirmed && (f.State == Claimed || f.State == Running):
		limit, reason = f.Limits.ClaimGate, ReasonUnconfirmed
	case f.State == Claimed && f.Report != Online:
		limit = f.Limits.ClaimGate
	case f.State == Idle && !f.Pooled:
		limit, reason = f.Limits.Handshake, ReasonHandshake
	default:
		return d
	}
	at := f.GateFrom.Add(limit)
	switch {
	case now.Before(at):
		d.wakeBy(at)
		return d
	case f.ReadAt.Before(at):
		return Decision{Read: true, Wake: d.Wake}
	default:
		return Decision{Event: Rejected, Reason: reason}
	}
}

func (d *Decision) wakeBy(at time.Time) {
	if d.Wake.IsZero() || at.Before(d.Wake) {
		d.Wake = at
	}
}
