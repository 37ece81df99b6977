package githubsim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// run is a workflow run. Its id stays whatever is run again.
type run struct {
	RunSpec
	createdAt time.Time
	attempts  []*attempt // the first has number 1
}

func (r *run) latest() *attempt { return r.attempts[len(r.attempts)-1] }

// at returns the latest attempt at an instant, or nil before the run was started.
func (r *run) at(at time.Time) *attempt {
	for _, a := range slices.Backward(r.attempts) {
		if !at.Before(a.startedAt) {
			return a
		}
	}
	return nil
}

// attempt is one attempt of a run.
type attempt struct {
	number      int
	startedAt   time.Time
	cancelledAt time.Time // zero: nobody has asked for that
	tasks       []*task
}

// task is a job of an attempt, or what stands for its legs until they are known.
type task struct {
	*job
	spec    *JobSpec
	leg     string // of the matrix; "": it is no leg
	id      int64
	madeAt  time.Time // when it came to be, in this attempt or in the one that it was carried over from
	shownAt time.Time // when GitHub's list first has it; zero: not yet
	endsAt  time.Time // of a hosted job
}

// name is the job's name as GitHub writes it.
func (t *task) name() string {
	if t.leg == "" {
		return t.spec.Name
	}
	return t.spec.Name + " (" + t.leg + ")"
}

// failed reports whether "re-run failed jobs" runs it again.
func (t *task) failed() bool { return t.Conclusion == Failure || t.Conclusion == Cancelled }

// of returns the tasks of a key.
func (a *attempt) of(key string) []*task {
	return slices.DeleteFunc(slices.Clone(a.tasks), func(t *task) bool { return t.spec.Key != key })
}

// ready reports whether the needs of a job are over, and whether it runs then.
func (a *attempt) ready(s *JobSpec) (over, runs bool) {
	runs = a.cancelledAt.IsZero()
	for _, t := range a.tasks {
		if !slices.Contains(s.Needs, t.spec.Key) {
			continue
		}
		if t.State != Completed {
			return false, false
		}
		runs = runs && t.Conclusion == Success
	}
	return true, runs || s.Always
}

// status is what GitHub's list said of a job at an instant: the records of what became of it have all the times.
// "" means that the list did not have it.
func (t *task) status(at time.Time) (status, conclusion string) {
	by := func(x time.Time) bool { return !x.IsZero() && !at.Before(x) }
	switch {
	case !by(t.shownAt):
		return "", ""
	case by(t.FinishedAt):
		return githubapi.StatusCompleted, string(t.Conclusion)
	case by(t.StartedAt):
		return githubapi.StatusInProgress, ""
	case by(t.QueuedAt):
		return githubapi.StatusQueued, ""
	}
	return githubapi.StatusWaiting, ""
}

// status is what GitHub said of the whole attempt at an instant. It follows the job that is least far: one that is
// queued hides that others run (cli/cli#13972).
func (a *attempt) status(at time.Time) (status, conclusion string) {
	have := map[string]bool{}
	ended := map[string]bool{}
	for _, t := range a.tasks {
		s, c := t.status(at)
		have[s], ended[c] = true, true
	}
	switch {
	case have[githubapi.StatusQueued]:
		return githubapi.StatusQueued, ""
	case have[githubapi.StatusInProgress]:
		return githubapi.StatusInProgress, ""
	case have[githubapi.StatusWaiting]:
		return githubapi.StatusWaiting, ""
	case have[""]:
		return githubapi.StatusInProgress, "" // at the very instant at which a need has ended
	}
	for _, c := range []Conclusion{Failure, Cancelled, Success} {
		if ended[string(c)] {
			conclusion = string(c)
			break
		}
	}
	switch {
	case !a.cancelledAt.IsZero():
		conclusion = githubapi.ConclusionCancelled
	case conclusion == "":
		conclusion = githubapi.ConclusionSkipped
	}
	return githubapi.StatusCompleted, conclusion
}

// completed reports whether nothing of the attempt runs or waits any more.
func (a *attempt) completed() bool {
	return !slices.ContainsFunc(a.tasks, func(t *task) bool { return t.State != Completed })
}
