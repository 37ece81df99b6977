package reconciler

import (
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// runFacts is all that nextRunStep looks at: one request, and its run as GitHub showed it.
type runFacts struct {
	attempt      int // of the run, that the request is for
	count        int
	original     int // most that may be asked for
	byController bool

	live   bool                // Pending or Ready, and not given back
	failed bool                // it failed, nobody waits for it, and its run was not cancelled for that
	back   store.ReleaseReason // why the controller gave it back
	age    time.Duration       // since it was taken up

	view  githubapi.WorkflowRun
	gone  bool          // GitHub has said several times that there is no such run
	jobs  *jobsOfRun    // of the attempt that GitHub shows, under the request's label; nil: not asked for
	quiet time.Duration // for so long none of them has waited or run, while the run waits
}

// jobsOfRun counts the jobs whose only label is the request's label. A completed job proves that the run belongs to the request. It does
// not prove that a job waits.
type jobsOfRun struct {
	ours            bool // the run has a job with the label
	queued, running int
}

// runStep is what is due; the zero value is nothing.
type runStep struct {
	jobs    bool // the jobs must be looked at first
	release store.ReleaseMode
	reason  store.ReleaseReason
	ask     int  // for so many, as another attempt of the request
	grow    int  // to so many
	cancel  bool // the run
	moot    bool // to cancel it: it is over
}

// quietFor is how long none of the run's jobs waits or runs while it waits for an approval, until its machines go
// back: more than what GitHub takes to queue the next jobs, and little to what people take.
const quietFor = 5 * time.Minute

// neverBegunAfter is how long a request is taken up until an attempt that GitHub does not show has never been: its views are
// a minute late or so, and a look goes on with what it began with for a quarter of an hour (resumedFor).
const neverBegunAfter = 30 * time.Minute

// nextRunStep says what is due for a request, by what GitHub shows of its run. A view of an earlier attempt is late, and says
// nothing for a while. It reads no clock and does no I/O.
func nextRunStep(f runFacts) runStep {
	over := runStep{release: store.ReleaseDrain, reason: store.RunOver}
	never := f.view.Attempt < f.attempt && f.view.Completed() && f.age >= neverBegunAfter
	switch {
	case (f.gone || never) && f.live:
		return over
	case f.gone || never:
		return runStep{moot: f.failed}
	case f.view.Attempt < f.attempt:
		return runStep{}
	case f.view.Attempt > f.attempt:
		return f.laterAttempt(over)
	case f.view.Completed() && f.live:
		if f.view.Conclusion == githubapi.ConclusionCancelled {
			over.release = store.ReleaseNow
		}
		return over
	case f.view.Completed():
		return runStep{moot: f.failed}
	case f.live:
		return f.going()
	case f.failed:
		if f.jobs == nil {
			return runStep{jobs: true}
		}
		return runStep{cancel: f.jobs.queued > 0}
	case f.back == store.RunWaits, f.back == store.RunStuck:
		return f.again()
	}
	return runStep{}
}

// laterAttempt: the run was run again, so the attempt that the request is for is over.
func (f runFacts) laterAttempt(over runStep) runStep {
	if !f.view.Completed() {
		if step := f.again(); step != (runStep{}) {
			return step
		}
	}
	if f.live {
		return over
	}
	return runStep{moot: f.failed}
}

// again asks for as many as wait, if any do.
func (f runFacts) again() runStep {
	switch {
	case f.jobs == nil:
		return runStep{jobs: true}
	case f.jobs.queued > 0:
		return runStep{ask: min(f.jobs.queued, f.original)}
	}
	return runStep{}
}

// going: the run of a request that holds machines, or waits for them, goes on.
func (f runFacts) going() runStep {
	waits := f.view.Status == githubapi.StatusWaiting
	if !waits && !f.byController {
		return runStep{}
	}
	if f.jobs == nil {
		return runStep{jobs: true}
	}
	if want := min(f.jobs.queued+f.jobs.running, f.original); f.byController && f.jobs.queued > 0 && want > f.count {
		return runStep{grow: want}
	}
	if waits && f.jobs.queued+f.jobs.running == 0 && f.quiet >= quietFor {
		return runStep{release: store.ReleaseDrain, reason: store.RunWaits}
	}
	return runStep{}
}
