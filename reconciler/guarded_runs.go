package reconciler

import (
	"context"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Runs is what the controller needs of GitHub to watch runs. A repository is owner/name.
type Runs interface {
	// ActiveRuns lists the runs that are queued or in progress, each with its latest attempt.
	ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error)
	// CompletedRuns lists the newest that are completed, some hundred, each with its latest attempt.
	CompletedRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error)
	// WorkflowRun returns one run; false: the repository has none of that id.
	WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error)
	// WorkflowJobs lists the jobs of one attempt of a run.
	WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]githubapi.WorkflowJob, error)
	// CancelRun cancels a run. One that is over already is no error.
	CancelRun(ctx context.Context, repository string, id int64) error
	// RerunFailedJobs runs the failed jobs of a completed run again, as another attempt of it.
	RerunFailedJobs(ctx context.Context, repository string, id int64) error
	// RerunJob runs one job of a completed run again.
	RerunJob(ctx context.Context, repository string, job int64) error
	// LeaveCheckRun leaves a note on a commit, once for each key.
	LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error
}

// guardedRuns bounds calls as guardedGitHub does, and changes nothing outside the window of trust.
type guardedRuns struct {
	runs  Runs
	guard guardedGitHub
}

// ActiveRuns is GitHub's.
func (g guardedRuns) ActiveRuns(ctx context.Context, repository string) (out []githubapi.WorkflowRun, err error) {
	err = g.guard.lookUp(ctx, func(ctx context.Context) error {
		out, err = g.runs.ActiveRuns(ctx, repository)
		return err
	})
	return out, err
}

// CompletedRuns is GitHub's.
func (g guardedRuns) CompletedRuns(ctx context.Context, repository string) (out []githubapi.WorkflowRun, err error) {
	err = g.guard.lookUp(ctx, func(ctx context.Context) error {
		out, err = g.runs.CompletedRuns(ctx, repository)
		return err
	})
	return out, err
}

// WorkflowRun is GitHub's.
func (g guardedRuns) WorkflowRun(ctx context.Context, repository string, id int64) (out githubapi.WorkflowRun, found bool, err error) {
	err = g.guard.lookUp(ctx, func(ctx context.Context) error {
		out, found, err = g.runs.WorkflowRun(ctx, repository, id)
		return err
	})
	return out, found, err
}

// WorkflowJobs is GitHub's.
func (g guardedRuns) WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) (out []githubapi.WorkflowJob, err error) {
	err = g.guard.lookUp(ctx, func(ctx context.Context) error {
		out, err = g.runs.WorkflowJobs(ctx, repository, id, attempt)
		return err
	})
	return out, err
}

// runAct is one change of a run at GitHub, and the state of the run that the decision was based on.
type runAct struct {
	repository string
	judged     githubapi.WorkflowRun // the run when the decision was made
	waiting    string                // the label that a queued job must have alone; "": no job needs to be queued
	what       string                // the action, for errors
	record     func(ctx context.Context) error
	call       func(ctx context.Context, runs Runs) error
}

// actResult is the result of a runAct.
type actResult int

const (
	acted      actResult = iota // GitHub was called
	runChanged                  // no call: the run has another attempt or another state than judged
	noJobWaits                  // no call: no job with the label is queued
)

// act is the only function that changes a run at GitHub. GitHub's lists can be minutes late, and GitHub's calls affect the latest attempt.
// So act reads the run alone, and calls GitHub only if the run is unchanged. If an act needs a queued job, act then reads the jobs. record
// stores the intent, and runs only if the call follows. GitHub has no conditional call, so a job can still begin between the last read and
// the call. Only one write of the table is between the two.
func (g guardedRuns) act(ctx context.Context, a runAct) (actResult, error) {
	now, found, err := g.WorkflowRun(ctx, a.repository, a.judged.ID)
	if err != nil {
		return runChanged, err
	}
	if !found || now.Attempt != a.judged.Attempt || now.Status != a.judged.Status || now.Conclusion != a.judged.Conclusion {
		return runChanged, nil
	}
	if a.waiting != "" {
		jobs, err := g.WorkflowJobs(ctx, a.repository, now.ID, now.Attempt)
		if err != nil {
			return noJobWaits, err
		}
		if countJobs(jobs, a.waiting).queued == 0 {
			return noJobWaits, nil
		}
	}
	if err := a.record(ctx); err != nil {
		return acted, err
	}
	return acted, g.guard.change(ctx, a.what, func(ctx context.Context) error { return a.call(ctx, g.runs) })
}

// LeaveCheckRun is GitHub's.
func (g guardedRuns) LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error {
	return g.guard.change(ctx, "leave a check run", func(ctx context.Context) error { return g.runs.LeaveCheckRun(ctx, repository, c) })
}
