package agent

import (
	"context"
	"errors"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// Errors of a Runner.
var (
	// ErrBusy: the listener runs a job and was told to drain.
	ErrBusy = errors.New("agent: listener is busy")
	// ErrUnfit: this machine is not as it must be for a runner. GitHub was not asked.
	ErrUnfit = errors.New("agent: machine cannot run jobs")
	// ErrDeprecated: GitHub no longer serves this version of the runner.
	ErrDeprecated = errors.New("agent: runner version is deprecated")
)

// Runner starts listeners. One machine has at most one at a time.
type Runner interface {
	// Start starts a listener for reg under exactly label and returns once its process runs; whether
	// it comes online is in its status. Errors wrap githubapi.ErrThrottled, ErrUnavailable or
	// ErrRefused, or ErrDeprecated, if GitHub was the cause. No process is left after an error.
	Start(ctx context.Context, reg store.Registration, label string) (Listener, error)
	// Adopt returns the listener that an earlier agent started as ref, in the boundary of that name, or
	// nil if it has ended; but one on which a job ran that no one judged is returned in its end. Anything else
	// an earlier agent may have started is ended.
	Adopt(ctx context.Context, ref process.Ref, boundary string) (Listener, error)
}

// Listener is one process that takes jobs from GitHub, with all it started. It is safe for
// concurrent use, and no method but Stop blocks.
type Listener interface {
	Ref() process.Ref
	// Boundary names what holds its processes together (package boundary); "": nothing does.
	Boundary() string
	Status() Status
	// Changed receives a value after the status changed. Changes in quick succession may be one.
	Changed() <-chan struct{}
	// Stop ends the listener and what it started, gently first. It returns nil once no process is
	// left, also if it ended long ago. With store.ReleaseDrain it changes nothing and returns ErrBusy while
	// a job runs; with store.ReleaseNow it does not wait for the job.
	Stop(ctx context.Context, mode store.ReleaseMode) error
	// Kill sends the end to all its processes and does not wait.
	Kill()
	// Detach ends the observation of the listener, not the listener.
	Detach()
}

// ListenerState is what a listener does.
type ListenerState string

// The states of a listener, as heartbeats show them.
const (
	Starting  ListenerState = "starting"
	Blocked   ListenerState = "blocked" // cannot reach GitHub, keeps trying
	Listening ListenerState = "listening"
	Busy      ListenerState = "busy"
	Exited    ListenerState = "exited"
)

// What a heartbeat shows while there is no listener, or the agent does something else. Once a listener
// has ended it shows its Ending, until there is another one.
const (
	RunnerNone     = "none"
	RunnerScript   = "script"
	RunnerCleaning = "cleaning"
)

// CauseConflict is a cause besides those of package store: GitHub believes that this runner has a
// session already. A new registration has a new name and no such session.
const CauseConflict = "conflict"

// Exit statuses of the real listener (actions/runner, src/Runner.Common/Constants.cs, ReturnCode). A
// process ended by signal n has 128+n.
const (
	ExitOK           = 0
	ExitTerminated   = 1
	ExitRetryable    = 2
	ExitUpdating     = 3 // it is about to be replaced by another version
	ExitUpdatingOnce = 4 // the same, of a registration for one job
	ExitConflict     = 5
	ExitInternal     = 6 // to begin again with a changed configuration; no version shows it yet
	ExitDeprecated   = 7
	ExitUnknown      = -1 // another agent was its parent
)

// Ending says why a listener ended that no one ended.
type Ending string

// The endings, as heartbeats show them.
const (
	Completed  Ending = "completed"  // its registration was for one job, which it had
	Lapsed     Ending = "lapsed"     // its registration was removed from GitHub while it waited for a job
	Refused    Ending = "refused"    // GitHub does not take its registration
	Deprecated Ending = "deprecated" // GitHub no longer serves this version of the runner
	Conflict   Ending = "conflict"   // GitHub believes that it has a session already
	Updating   Ending = "updating"   // it began to replace its own program
	CutOff     Ending = "cut off"    // GitHub could not be reached, or limited the rate
	Crashed    Ending = "crashed"    // anything else; also ExitTerminated, ExitRetryable, ExitInternal
	Unseen     Ending = "unseen"     // no one learned how
)

// ending sorts the end of a listener of a registration; online says whether that was ever online. What
// the listener said of the cause counts for more than an exit status that has many.
func (s Status) ending(mode store.RegistrationMode, online bool) Ending {
	jit := mode == store.JIT
	switch {
	case s.Exit == ExitDeprecated || s.Cause == store.CauseDeprecated:
		return Deprecated
	case jit && s.Jobs > 0:
		return Completed
	case s.Exit == ExitUpdating || s.Exit == ExitUpdatingOnce:
		return Updating
	case s.Exit == ExitOK, s.Cause == store.CauseRefused && online: // after a job the program's own words do not count
		return Lapsed
	case s.Cause == store.CauseRefused:
		return Refused
	case s.Exit == ExitConflict || s.Cause == CauseConflict:
		return Conflict
	case s.Exit == ExitUnknown:
		return Unseen
	case s.Cause == store.CauseThrottled || s.Cause == store.CauseUnavailable:
		return CutOff
	}
	return Crashed
}

// Status is what is known of a listener.
type Status struct {
	State    ListenerState
	Cause    string // Blocked, Exited: one of store.Cause* or CauseConflict; "" if not known
	Exit     int    // Exited: its status
	Online   bool   // it was listening at least once
	Jobs     int    // jobs it took
	Refused  int    // of them, those that the job-started hook refused
	Unjudged int    // of those that are over, the ones of which the hook said nothing
	RunnerID int64  // GitHub's id, 0 if not known
	Detail   string // last lines of its output, for people
}

// causeOf sorts an error of Runner.Start. "" means that GitHub was not the cause.
func causeOf(err error) string {
	switch {
	case errors.Is(err, ErrDeprecated):
		return store.CauseDeprecated
	case errors.Is(err, githubapi.ErrThrottled):
		return store.CauseThrottled
	case errors.Is(err, githubapi.ErrUnavailable):
		return store.CauseUnavailable
	case errors.Is(err, githubapi.ErrRefused), errors.Is(err, githubapi.ErrNameTaken):
		return store.CauseRefused
	}
	return ""
}
