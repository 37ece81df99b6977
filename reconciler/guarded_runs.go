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

// runAct is something that is done to one run at GitHub, and what it was judged by.
type runAct struct {
	repository string
	judged     githubapi.WorkflowRun // as it was when the decision was made
	waiting    string                // a job must be queued whose only label this is; "": none has to be
	what       string                // for errors
	record     func(ctx context.Context) error
	call       func(ctx context.Context, runs Runs) error
}

// actResult says what became of a runAct.
type actResult int

const (
	acted      actResult = iota // the call was made
	runChanged                  // no call: the run has another attempt or another state than the judged one
	noJobWaits                  // no call: no job is queued under the label
)

// act is the only way to change what becomes of a run. The lists that decisions are made by may be many minutes late, and GitHub's
// calls act on whatever attempt is the latest. So act reads the run alone, and makes the call only if the run is still as it was
// judged. For an act that needs a queued job it reads the jobs after that. record writes the intention down, and runs only if the call
// follows. A job that begins between the last read and the call is not seen: GitHub has no conditional call. The time between them is
// one write of the table.
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
