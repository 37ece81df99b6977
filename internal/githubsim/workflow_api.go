package githubsim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// The calls about runs. Each is carried out on what is so, and answered with what the View shows.

// mostListed is how many runs a list that is filtered has at most (GitHub REST, "List workflow runs for a repository").
const mostListed = 1000

// ask makes a call about a repository.
func (w *Workflows) ask(ctx context.Context, c Call, repository string, f func(now time.Time) error) error {
	return w.hub.do(ctx, c, func(now time.Time) error {
		if err := w.access.check(repository, c); err != nil {
			return fmt.Errorf("%s: %w", repository, err)
		}
		return f(now)
	})
}

// shown returns the run of an id as the API shows it.
func (w *Workflows) shown(repository string, id int64, at time.Time) (*run, *attempt, error) {
	r, err := w.in(repository, id)
	if err != nil {
		return nil, nil, err
	}
	a := r.at(at)
	if a == nil {
		return nil, nil, errHidden
	}
	return r, a, nil
}

// in returns the run of an id if it is one of the repository.
func (w *Workflows) in(repository string, id int64) (*run, error) {
	if r := w.byID[id]; r != nil && strings.EqualFold(r.Repository, repository) {
		return r, nil
	}
	return nil, errHidden
}

// list returns the runs of a repository in a status, or in any if that is "", the last one first.
func (w *Workflows) list(ctx context.Context, repository, status string) ([]RunRecord, error) {
	out := []RunRecord{}
	err := w.ask(ctx, CallRuns, repository, func(now time.Time) error {
		at := w.view.instant(fmt.Sprintf("runs %s %s", strings.ToLower(repository), status), now)
		for _, r := range w.order {
			a := r.at(at)
			if a == nil || !strings.EqualFold(r.Repository, repository) {
				continue
			}
			if is, conclusion := a.status(at); status == "" || is == status || conclusion == status {
				out = append(out, r.record(a, at))
			}
		}
		sorted(&w.view, out, func(r RunRecord) int64 { return r.ID }, func(r RunRecord) time.Time { return r.CreatedAt })
		if status != "" && len(out) > mostListed {
			out = out[:mostListed]
		}
		return nil
	})
	return out, err
}

// get returns one run.
func (w *Workflows) get(ctx context.Context, repository string, id int64) (RunRecord, error) {
	var out RunRecord
	err := w.ask(ctx, CallRun, repository, func(now time.Time) error {
		at := now
		if !w.view.Lists {
			at = w.view.instant(fmt.Sprintf("run %d", id), now)
		}
		r, a, err := w.shown(repository, id, at)
		if err != nil {
			return err
		}
		out = r.record(a, at)
		return nil
	})
	return out, err
}

// allAttempts and lastAttempt stand for an attempt's number.
const (
	allAttempts = -1
	lastAttempt = 0
)

// attempts returns attempts of a run with their jobs: that of a number, or what one of the constants says, the last first.
func (w *Workflows) attempts(ctx context.Context, repository string, id int64, number int) ([]RunRecord, error) {
	var out []RunRecord
	err := w.ask(ctx, CallRunJobs, repository, func(now time.Time) error {
		at := w.view.instant(fmt.Sprintf("jobs %d %d", id, number), now)
		r, last, err := w.shown(repository, id, at)
		if err != nil {
			return err
		}
		for _, a := range slices.Backward(r.attempts[:last.number]) {
			if number == allAttempts || number == a.number || number == lastAttempt && a == last {
				one := r.record(a, at)
				if w.view.Shuffled {
					sorted(&w.view, one.Jobs, func(j RunJob) int64 { return j.ID }, func(j RunJob) time.Time { return j.CreatedAt })
				}
				out = append(out, one)
			}
		}
		if len(out) == 0 {
			return errHidden
		}
		return nil
	})
	return out, err
}

// rerunning makes one of the calls that run a run again.
func (w *Workflows) rerunning(ctx context.Context, c Call, repository string, id int64, again func(*task) bool) error {
	return w.ask(ctx, c, repository, func(now time.Time) error {
		r, err := w.in(repository, id)
		if err != nil {
			return err
		}
		return w.rerun(r, again, now)
	})
}

func every(*task) bool { return true }

// completed reports whether nothing of the attempt runs or waits any more.
func (r RunRecord) completed() bool { return r.Status == githubapi.StatusCompleted }

func (r RunRecord) client() githubapi.WorkflowRun {
	return githubapi.WorkflowRun{ID: r.ID, Attempt: r.Attempt, Status: r.Status, Conclusion: r.Conclusion, HeadSHA: r.HeadSHA}
}

// ActiveRuns is (*githubapi.Client).ActiveRuns: two calls, between which a run may change from one list to the other.
func (w *Workflows) ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	out := []githubapi.WorkflowRun{}
	for _, status := range []string{githubapi.StatusQueued, githubapi.StatusInProgress} {
		all, err := w.list(ctx, repository, status)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			if i := slices.IndexFunc(out, func(o githubapi.WorkflowRun) bool { return o.ID == r.ID }); i >= 0 {
				out[i] = r.client()
				continue
			}
			out = append(out, r.client())
		}
	}
	return out, nil
}

// CompletedRuns is (*githubapi.Client).CompletedRuns: the first page.
func (w *Workflows) CompletedRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	all, err := w.list(ctx, repository, githubapi.StatusCompleted)
	if err != nil {
		return nil, err
	}
	out := []githubapi.WorkflowRun{}
	for _, r := range all[:min(len(all), maxPage)] {
		out = append(out, r.client())
	}
	return out, nil
}

// WorkflowRun is (*githubapi.Client).WorkflowRun.
func (w *Workflows) WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error) {
	r, err := w.get(ctx, repository, id)
	if gone := (*refused)(nil); errors.As(err, &gone) && gone.status == http.StatusNotFound {
		return githubapi.WorkflowRun{}, false, nil
	}
	return r.client(), err == nil, err
}

// WorkflowJobs is (*githubapi.Client).WorkflowJobs.
func (w *Workflows) WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]githubapi.WorkflowJob, error) {
	if attempt < 1 {
		return nil, fmt.Errorf("jobs of run %d: attempt: must be at least 1, got %d: %w", id, attempt, ErrInvalid)
	}
	all, err := w.attempts(ctx, repository, id, attempt)
	if err != nil {
		return nil, err
	}
	out := []githubapi.WorkflowJob{}
	for _, j := range all[0].Jobs {
		out = append(out, githubapi.WorkflowJob{
			ID: j.ID, Name: j.Name, Status: j.Status, Conclusion: j.Conclusion, Labels: labelsOf(j.Label),
			RunnerName: j.Runner, CreatedAt: whole(j.CreatedAt), StartedAt: whole(j.StartedAt), CompletedAt: whole(j.FinishedAt),
		})
	}
	return out, nil
}

// CancelRun is (*githubapi.Client).CancelRun: a run that is completed is no error.
func (w *Workflows) CancelRun(ctx context.Context, repository string, id int64) error {
	err := w.cancelling(ctx, repository, id)
	if errors.Is(err, errCompleted) {
		return nil
	}
	return err
}

func (w *Workflows) cancelling(ctx context.Context, repository string, id int64) error {
	return w.ask(ctx, CallCancelRun, repository, func(now time.Time) error {
		r, err := w.in(repository, id)
		if err != nil {
			return err
		}
		return w.cancel(r, now)
	})
}

// RerunFailedJobs is (*githubapi.Client).RerunFailedJobs.
func (w *Workflows) RerunFailedJobs(ctx context.Context, repository string, id int64) error {
	return w.rerunning(ctx, CallRerunFailed, repository, id, (*task).failed)
}

// RerunJob is (*githubapi.Client).RerunJob.
func (w *Workflows) RerunJob(ctx context.Context, repository string, job int64) error {
	return w.ask(ctx, CallRerunJob, repository, func(now time.Time) error {
		r, t := w.find(job)
		if t == nil || !strings.EqualFold(r.Repository, repository) {
			return errHidden
		}
		return w.rerun(r, func(o *task) bool { return o == t }, now)
	})
}
