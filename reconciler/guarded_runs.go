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

// CancelRun is GitHub's.
func (g guardedRuns) CancelRun(ctx context.Context, repository string, id int64) error {
	return g.guard.change(ctx, "cancel a run", func(ctx context.Context) error { return g.runs.CancelRun(ctx, repository, id) })
}

// RerunFailedJobs is GitHub's.
func (g guardedRuns) RerunFailedJobs(ctx context.Context, repository string, id int64) error {
	return g.guard.change(ctx, "run failed jobs again", func(ctx context.Context) error { return g.runs.RerunFailedJobs(ctx, repository, id) })
}

// RerunJob is GitHub's.
func (g guardedRuns) RerunJob(ctx context.Context, repository string, job int64) error {
	return g.guard.change(ctx, "run a job again", func(ctx context.Context) error { return g.runs.RerunJob(ctx, repository, job) })
}

// LeaveCheckRun is GitHub's.
func (g guardedRuns) LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error {
	return g.guard.change(ctx, "leave a check run", func(ctx context.Context) error { return g.runs.LeaveCheckRun(ctx, repository, c) })
}
