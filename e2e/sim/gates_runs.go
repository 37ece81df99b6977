package sim

import (
	"context"
	"slices"
	"strconv"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
)

// judgedRuns is what GitHub says of runs, below all gates: the laws see what the controller does to them.
type judgedRuns struct {
	w *World
	*githubsim.Workflows
}

func (j judgedRuns) CancelRun(ctx context.Context, repository string, id int64) error {
	if run, err := j.Run(id); err == nil {
		j.w.truth.runs.cancels(run)
		j.w.truth.acts.cancels(run)
	}
	return j.Workflows.CancelRun(ctx, repository, id)
}

func (j judgedRuns) LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error {
	j.w.truth.runs.notes(repository, c)
	return j.Workflows.LeaveCheckRun(ctx, repository, c)
}

func (j judgedRuns) RerunFailedJobs(ctx context.Context, repository string, id int64) error {
	return j.again(id, func() error { return j.Workflows.RerunFailedJobs(ctx, repository, id) })
}

func (j judgedRuns) RerunJob(ctx context.Context, repository string, job int64) error {
	for _, run := range j.List() {
		if slices.ContainsFunc(run.Jobs, func(o githubsim.RunJob) bool { return o.ID == job }) {
			return j.again(run.ID, func() error { return j.Workflows.RerunJob(ctx, repository, job) })
		}
	}
	return j.Workflows.RerunJob(ctx, repository, job)
}

// again judges a call that may have had a run run again.
func (j judgedRuns) again(id int64, do func() error) error {
	was, err := j.Run(id)
	if err != nil {
		return do() // there is none
	}
	if err := do(); err != nil {
		return err
	}
	now, err := j.Run(id)
	if err == nil && now.Attempt > was.Attempt {
		j.w.transcript.tellf("run %d is run again by the controller", id)
		j.w.truth.runs.reruns(was, now)
		j.w.truth.acts.reruns(was)
	}
	return err
}

// runsGate is what GitHub says of runs, for one controller.
type runsGate struct {
	p     *process
	inner reconciler.Runs
}

func (g runsGate) site(method string) Site { return Site{g.p.role, "github." + method, ""} }

func (g runsGate) ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	return call(ctx, g.p, githubContract, g.site("ActiveRuns"), repository, func(ctx context.Context) ([]githubapi.WorkflowRun, error) {
		return g.inner.ActiveRuns(ctx, repository)
	}, nil)
}

func (g runsGate) CompletedRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	return call(ctx, g.p, githubContract, g.site("CompletedRuns"), repository, func(ctx context.Context) ([]githubapi.WorkflowRun, error) {
		return g.inner.CompletedRuns(ctx, repository)
	}, nil)
}

func (g runsGate) WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error) {
	type found struct {
		run githubapi.WorkflowRun
		ok  bool
	}
	f, err := call(ctx, g.p, githubContract, g.site("WorkflowRun"), strconv.FormatInt(id, 10), func(ctx context.Context) (found, error) {
		r, ok, err := g.inner.WorkflowRun(ctx, repository, id)
		return found{r, ok}, err
	}, nil)
	return f.run, f.ok, err
}

func (g runsGate) WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]githubapi.WorkflowJob, error) {
	return call(ctx, g.p, githubContract, g.site("WorkflowJobs"), strconv.FormatInt(id, 10), func(ctx context.Context) ([]githubapi.WorkflowJob, error) {
		return g.inner.WorkflowJobs(ctx, repository, id, attempt)
	}, nil)
}

func (g runsGate) CancelRun(ctx context.Context, repository string, id int64) error {
	return done(ctx, g.p, githubContract, g.site("CancelRun"), strconv.FormatInt(id, 10), func(ctx context.Context) error {
		return g.inner.CancelRun(ctx, repository, id)
	})
}

func (g runsGate) RerunFailedJobs(ctx context.Context, repository string, id int64) error {
	return done(ctx, g.p, githubContract, g.site("RerunFailedJobs"), strconv.FormatInt(id, 10), func(ctx context.Context) error {
		return g.inner.RerunFailedJobs(ctx, repository, id)
	})
}

func (g runsGate) RerunJob(ctx context.Context, repository string, job int64) error {
	return done(ctx, g.p, githubContract, g.site("RerunJob"), strconv.FormatInt(job, 10), func(ctx context.Context) error {
		return g.inner.RerunJob(ctx, repository, job)
	})
}

func (g runsGate) LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error {
	return done(ctx, g.p, githubContract, g.site("LeaveCheckRun"), c.Key, func(ctx context.Context) error {
		return g.inner.LeaveCheckRun(ctx, repository, c)
	})
}
