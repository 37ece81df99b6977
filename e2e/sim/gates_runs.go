package sim

import (
	"context"
	"strconv"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
)

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
