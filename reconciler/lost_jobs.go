package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// lostJobs has jobs run again that were lost with their machines, once per run.
type lostJobs struct {
	*tenure
	cache    *cache
	statuses *statuses
	checks   *checkRuns
	github   guardedRuns
}

const (
	// lostWithin is for how long after a request was given back its run may turn out to have lost jobs: GitHub gives a job up
	// some ten minutes after its runner was last seen (actions/runner renews a job's lock every minute, for ten).
	lostWithin = 15 * time.Minute
	// doubtFor is how long GitHub's view of a run may be late; only after it an order without an answer is given again.
	doubtFor = 2 * time.Minute
)

// lossOf is what became of one failed job.
type lossOf int

const (
	byItself    lossOf = iota // it failed
	withMachine               // its machine vanished under it
	undecided                 // its machine is silent, and not given up yet
)

// open reports whether a run may have lost jobs of a request, and was not judged yet.
func (l *lostJobs) open(r run) bool {
	w := r.status.Watch.Rerun
	if !l.cfg.Watch.RerunLost || w == store.Done || w == store.NotDone {
		return false
	}
	return r.status.ReleasedAt.IsZero() || l.clock.Since(r.status.ReleasedAt.Time) < lostWithin
}

// settle decides about the lost jobs of a run, and reports whether that is done.
func (l *lostJobs) settle(ctx context.Context, requests []run, view githubapi.WorkflowRun, jobs *runJobs) (bool, error) {
	if !l.cfg.Watch.RerunLost {
		return true, nil
	}
	requests = slices.DeleteFunc(slices.Clone(requests), func(r run) bool { return r.status == nil }) // those not taken up yet lost nothing
	for _, r := range requests {
		switch w := r.status.Watch; {
		case w.Rerun == store.Done, w.Rerun == store.NotDone:
			return true, nil
		case w.Rerun == store.Intended && view.Attempt > w.RerunAttempt:
			return true, l.conclude(ctx, intending(requests), view, store.Done, w.Detail+"; run again")
		case w.Rerun == store.Intended && l.clock.Since(r.status.ChangedAt.Time) < doubtFor:
			return false, nil
		}
	}
	if !view.Completed() || view.Conclusion == githubapi.ConclusionSuccess || view.Conclusion == githubapi.ConclusionCancelled {
		return view.Completed(), nil
	}
	all, err := jobs.all(ctx)
	if err != nil {
		return false, err
	}
	lost, failed, decided := l.judge(all)
	if !decided {
		return false, nil
	}
	mine := slices.DeleteFunc(slices.Clone(requests), func(r run) bool {
		return !slices.ContainsFunc(lost, func(j githubapi.WorkflowJob) bool { return j.Asks(string(r.id)) })
	})
	if len(mine) == 0 {
		return true, nil
	}
	if slices.ContainsFunc(mine, func(r run) bool { return r.status.Phase != statemachine.PhaseReleased }) {
		return false, nil // what it still holds, on spot perhaps, would take the jobs
	}
	return l.rerun(ctx, mine, view, lost, failed)
}

// intending returns the requests whose lost jobs were ordered to be run again.
func intending(requests []run) []run {
	return slices.DeleteFunc(slices.Clone(requests), func(r run) bool { return r.status.Watch.Rerun != store.Intended })
}

// judge sorts the jobs that failed: those that were lost with their machines, and how many others. It is not decided as long
// as a machine is silent that may come back.
func (l *lostJobs) judge(all []githubapi.WorkflowJob) (lost []githubapi.WorkflowJob, failed int, decided bool) {
	for _, j := range all {
		switch j.Conclusion {
		case githubapi.ConclusionFailure, githubapi.ConclusionTimedOut, githubapi.ConclusionCancelled:
		default:
			continue
		}
		switch l.lossOf(j) {
		case undecided:
			return nil, 0, false
		case withMachine:
			lost = append(lost, j)
		case byItself:
			if j.Conclusion != githubapi.ConclusionCancelled { // such as by another leg of its matrix
				failed++
			}
		}
	}
	return lost, failed, true
}

// lossOf says whether a job that failed was lost. The runner that it had must be the last of its machine, and the machine's agent
// must have ended before it could say that the job had: it says so at once. So its last word is that a job runs; or it is older than
// the job, of which it could not know yet. With a registration for several jobs an earlier one of them ended before that was said.
// GitHub gives a job up only minutes after its runner's end: one that had ended while the fleet still listed the machine, of which
// the agent said nothing, has failed by itself.
func (l *lostJobs) lossOf(j githubapi.WorkflowJob) lossOf {
	s, known := l.cache.ownerOf(j.RunnerName)
	said, limits := s.vitals.beat, s.Limits.Over(l.cfg.Limits)
	atWork := said.Beat.Busy && !j.CompletedAt.Before(said.UpdatedAt.Add(-limits.Window()))
	unsaid := !said.Beat.Busy && !said.UpdatedAt.IsZero() && !j.StartedAt.Before(said.UpdatedAt.Add(-limits.Beat)) // clocks differ
	if !known || !strings.EqualFold(s.Registration.Name, j.RunnerName) || !atWork && !unsaid {
		return byItself
	}
	switch {
	case s.State == statemachine.Terminated && s.Reason == statemachine.ReasonGone && !j.CompletedAt.Before(s.Since.Add(-2*l.cfg.Sweep)),
		s.State == statemachine.Terminated && (s.Reason == statemachine.ReasonSilent || s.Reason == statemachine.ReasonUnconfirmed) && !j.CompletedAt.Before(s.Since.Time):
		return withMachine
	case s.State == statemachine.Terminated || l.clock.Since(j.CompletedAt) > lostWithin:
		return byItself
	}
	return undecided
}

// rerun reruns lost jobs if GitHub reruns no other jobs with them. It reports whether the decision is final.
func (l *lostJobs) rerun(ctx context.Context, requests []run, view githubapi.WorkflowRun, lost []githubapi.WorkflowJob, failed int) (bool, error) {
	names := make([]string, 0, len(lost))
	for _, j := range lost {
		names = append(names, j.Name)
	}
	what := fmt.Sprintf("lost with their machines: %s", strings.Join(names, ", "))
	if failed > 0 && len(lost) > 1 {
		own := "1 job failed by itself"
		if failed > 1 {
			own = fmt.Sprintf("%d jobs failed by themselves", failed)
		}
		return true, l.refuse(ctx, requests, view, fmt.Sprintf("%s; not run again, because %s: GitHub reruns one job, or all failed jobs", what, own))
	}
	for _, r := range requests {
		if why := l.cache.budget.forbids(afterLoss(*r.request)); why != "" { // they would wait for machines that nothing launches
			return true, l.refuse(ctx, requests, view, fmt.Sprintf("%s; not run again, because %s", what, why))
		}
	}
	repository := requests[0].workflow().Repository
	result, err := l.github.act(ctx, runAct{
		repository: repository, judged: view, what: "run lost jobs again",
		record: func(ctx context.Context) error { return l.intend(ctx, requests, view, what) },
		call: func(ctx context.Context, runs Runs) error {
			if failed == 0 {
				return runs.RerunFailedJobs(ctx, repository, view.ID)
			}
			return runs.RerunJob(ctx, repository, lost[0].ID)
		},
	})
	switch {
	case result == acted && errors.Is(err, githubapi.ErrRefused):
		return true, l.refuse(ctx, requests, view, fmt.Sprintf("%s; not run again: %v", what, err))
	case err != nil:
		return false, err // the next attempt of the run shows whether the call had an effect
	case result == runChanged:
		return false, nil // the next read judges the new state
	}
	l.log.Warn("jobs that were lost with their machines are run again", logkey.RequestID, requests[0].id, logkey.Run, view.ID, logkey.Detail, what)
	return true, l.conclude(ctx, requests, view, store.Done, what+"; run again")
}

// intend records that lost jobs are about to be rerun.
func (l *lostJobs) intend(ctx context.Context, requests []run, view githubapi.WorkflowRun, what string) error {
	for _, r := range requests {
		err := l.statuses.noteWatch(ctx, r.id, func(w *store.Watch) { w.Rerun, w.RerunAttempt, w.Detail = store.Intended, view.Attempt, what })
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the request as it is served. The attempt that reruns lost jobs gets on-demand instances only, unless the budget forbids
// them. The record keeps the client's request, so that later attempts are not restricted.
func (c *cache) wanted(r run) store.RunRequest {
	lost := r.status.Watch
	again := r.request.ByController() && r.request.WorkflowAttempt == lost.RerunAttempt+1 && (lost.Rerun == store.Done || lost.Rerun == store.Intended)
	if narrow := afterLoss(*r.request); again && c.budget.forbids(narrow) == "" {
		return narrow
	}
	return *r.request
}

// afterLoss is what is asked for jobs that were lost once: on-demand instances, where the request allows some.
func afterLoss(r store.RunRequest) store.RunRequest {
	if slices.Contains(r.UsageClasses, store.OnDemand) {
		r.UsageClasses = []string{store.OnDemand}
	}
	return r
}

// refuse says why lost jobs are not run again.
func (l *lostJobs) refuse(ctx context.Context, requests []run, view githubapi.WorkflowRun, why string) error {
	l.log.Warn("jobs were lost with their machines", logkey.RequestID, requests[0].id, logkey.Run, view.ID, logkey.Detail, why)
	return l.conclude(ctx, requests, view, store.NotDone, why)
}

// conclude writes down what came of it, and leaves a check run that says it.
func (l *lostJobs) conclude(ctx context.Context, requests []run, view githubapi.WorkflowRun, end store.Doing, detail string) error {
	for _, r := range requests {
		err := l.statuses.noteWatch(ctx, r.id, func(w *store.Watch) {
			w.Rerun, w.RerunAttempt, w.Detail = end, cmp.Or(w.RerunAttempt, view.Attempt), detail
		})
		if err != nil {
			return err
		}
	}
	l.checks.leave(ctx, requests[0], view, "lost", "Machines lost", detail)
	return nil
}
