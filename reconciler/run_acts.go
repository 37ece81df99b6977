package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// runJobs are the jobs of a run's latest attempt, asked for once by all who look at them in one pass.
type runJobs struct {
	repository string
	view       githubapi.WorkflowRun
	github     guardedRuns

	asked bool
	jobs  []githubapi.WorkflowJob
}

func (j *runJobs) all(ctx context.Context) ([]githubapi.WorkflowJob, error) {
	if j.asked {
		return j.jobs, nil
	}
	jobs, err := j.github.WorkflowJobs(ctx, j.repository, j.view.ID, j.view.Attempt)
	if err != nil {
		return nil, err
	}
	j.asked, j.jobs = true, jobs
	return jobs, nil
}

// of counts the jobs whose only label is this one.
func (j *runJobs) of(ctx context.Context, label string) (jobsOfRun, error) {
	all, err := j.all(ctx)
	if err != nil {
		return jobsOfRun{}, err
	}
	return countJobs(all, label), nil
}

// countJobs counts the jobs that have this label and no other.
func countJobs(all []githubapi.WorkflowJob, label string) (out jobsOfRun) {
	for _, job := range all {
		if !job.Asks(label) {
			continue
		}
		out.ours = true
		switch job.Status {
		case githubapi.StatusQueued:
			out.queued++
		case githubapi.StatusInProgress:
			out.running++
		}
	}
	return out
}

// release gives a request back whose run needs it no longer.
func (w *watcher) release(ctx context.Context, r run, step runStep) error {
	out, err := w.cache.store.ReleaseExactly(ctx, r.id, r.request.Attempt, step.release, step.reason)
	if err != nil {
		return err
	}
	w.log.Info("giving a request back", logkey.RequestID, r.id, logkey.Attempt, r.request.Attempt, logkey.Run, r.workflow().Run, logkey.Reason, step.reason)
	w.written(r.id, out)
	return nil
}

// ask asks for as many runners as jobs wait, in place of a client: the next attempt of the same request.
func (w *watcher) ask(ctx context.Context, r run, view githubapi.WorkflowRun, n int) error {
	want := *r.request
	want.Attempt = max(view.Attempt, r.request.Attempt+1) // as a client of that attempt would number it
	want.WorkflowAttempt = view.Attempt
	want.ExpiresAt = time.Time{} // what it follows was over
	want.Count, want.OriginalCount = n, cmp.Or(r.request.OriginalCount, r.request.Count)
	want.NoWait, want.CreatedAt = true, store.At(w.clock.Now())
	out, err := w.cache.store.Submit(ctx, want)
	if errors.Is(err, store.ErrOldAttempt) {
		return nil // a client was quicker, and is served
	}
	if err != nil {
		return err
	}
	if out.Attempt >= want.Attempt { // else the record was not written, because a client changed the request meanwhile
		w.log.Info("asking again for a run that continues", logkey.RequestID, r.id, logkey.Attempt, out.Attempt, logkey.Run, view.ID, logkey.Count, n)
	}
	w.written(r.id, out)
	return nil
}

// grow asks for more, as more jobs have come to wait.
func (w *watcher) grow(ctx context.Context, r run, n int) error {
	out, err := w.cache.store.Grow(ctx, *r.request, n)
	if err != nil {
		return err
	}
	w.log.Info("asking for more: more jobs wait", logkey.RequestID, r.id, logkey.Attempt, out.Attempt, logkey.Count, n)
	w.written(r.id, out)
	return nil
}

// written takes what was just written and looks at it.
func (w *watcher) written(id store.RequestID, r store.RunRequest) {
	w.cache.requests.applyRun(id, store.RunRecords{Request: &r}, w.clock.Now())
	w.queues.requests.Add(id)
}

// cancel cancels the run of a failed request that no client waits for. Its queued jobs would wait for a day. The run is canceled only if
// GitHub shows the same attempt, the same state and a queued job of the request.
func (w *watcher) cancel(ctx context.Context, r run, view githubapi.WorkflowRun) error {
	result, err := w.github.act(ctx, runAct{
		repository: r.workflow().Repository, judged: view, waiting: string(r.id), what: "cancel a run",
		record: func(ctx context.Context) error {
			return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Cancel = store.Intended })
		},
		call: func(ctx context.Context, runs Runs) error {
			return runs.CancelRun(ctx, r.workflow().Repository, view.ID)
		},
	})
	switch {
	case result == noJobWaits && err == nil:
		return w.leftAlone(ctx, r, view, jobsOfRun{ours: true})
	case result == runChanged && err == nil:
		return nil // the next read judges the new state
	case result == acted && errors.Is(err, githubapi.ErrRefused):
		w.log.Error("a run could not be cancelled whose request failed: its jobs wait", logkey.RequestID, r.id, logkey.Run, view.ID, logkey.Error, err)
		return w.canceled(ctx, r, view, store.NotDone, "its run could not be canceled: "+err.Error())
	case err != nil:
		return err
	}
	w.log.Warn("run canceled: its request failed, and no client waits for it", logkey.RequestID, r.id, logkey.Run, view.ID,
		logkey.Reason, r.status.Reason, logkey.Detail, r.status.Message)
	return w.canceled(ctx, r, view, store.Done, runCanceled)
}

// runCanceled is the message of a request whose run was canceled.
const runCanceled = "its run was canceled: no client waits for it"

// canceled records the result of a cancellation, and creates a check run that explains why there are no runners.
func (w *watcher) canceled(ctx context.Context, r run, view githubapi.WorkflowRun, end store.Doing, detail string) error {
	w.checks.leave(ctx, r, view, "failed", "No runners", fmt.Sprintf("remuda has no runners for this run: %s: %s", r.status.Reason, r.status.Message))
	return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Cancel, watch.Detail = end, detail })
}

// over records that the run of a failed request is over. If the run is canceled and a controller was about to cancel it, the call was made
// and its answer was lost.
func (w *watcher) over(ctx context.Context, r run, view githubapi.WorkflowRun) error {
	if r.status.Watch.Cancel == store.Intended && view.Conclusion == githubapi.ConclusionCancelled {
		return w.canceled(ctx, r, view, store.Done, runCanceled)
	}
	return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) {
		watch.Cancel, watch.Detail = store.NotDone, cmp.Or(watch.Detail, "its run was over before it was canceled")
	})
}

// leftAlone records once that the run of a failed request is not canceled, because no job waits for its runners.
func (w *watcher) leftAlone(ctx context.Context, r run, view githubapi.WorkflowRun, jobs jobsOfRun) error {
	why := "no job has the request's label"
	if jobs.ours {
		why = "no job waits for a runner of the request"
	}
	detail := "its run is left alone: " + why
	if r.status.Watch.Detail == detail {
		return nil
	}
	w.log.Warn("run of a failed request is not canceled", logkey.RequestID, r.id, logkey.Run, view.ID, logkey.Detail, why)
	return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Detail = detail })
}

// mostStrayLooks bounds the looks at an attempt of a run that no request remembers: its jobs may come late. The first, second,
// fourth and so on cost a call each.
const mostStrayLooks = 64

// forgotten says of runs that were run again, and that nobody remembers, why nothing comes for them.
func (w *watcher) forgotten(ctx context.Context, repo *watchedRepository, requests []run) error {
	known := map[int64]bool{}
	for _, r := range requests {
		known[r.workflow().Run] = true
	}
	looks := repo.strayLooks(known)
	for _, id := range slices.Sorted(maps.Keys(looks)) {
		n := looks[id]
		if n > mostStrayLooks || n&(n-1) != 0 {
			continue
		}
		view := repo.active[id]
		all, err := (&runJobs{repository: repo.name, view: view, github: w.github}).all(ctx)
		if errors.Is(err, githubapi.ErrRefused) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		label := strconv.FormatInt(id, 10)
		for _, job := range all {
			if job.Status == githubapi.StatusQueued && len(job.Labels) == 1 && (job.Labels[0] == label || strings.HasPrefix(job.Labels[0], label+"-")) {
				w.log.Warn("a run was run again that no request remembers: no runners are asked for, and its jobs wait until somebody re-runs all of them; see runs.remember",
					logkey.Repository, repo.name, logkey.Run, id, logkey.Attempt, view.Attempt)
				repo.strays[strayAttempt{id, view.Attempt}] = mostStrayLooks
				break
			}
		}
	}
	return nil
}
