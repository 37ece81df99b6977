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
func (j *runJobs) of(ctx context.Context, label string) (out jobsOfRun, _ error) {
	all, err := j.all(ctx)
	if err != nil {
		return out, err
	}
	for _, job := range all {
		if !job.Asks(label) {
			continue
		}
		out.all++
		switch job.Status {
		case githubapi.StatusQueued:
			out.queued++
		case githubapi.StatusInProgress:
			out.running++
		}
	}
	return out, nil
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
	if lost := r.status.Watch; (lost.Rerun == store.Done || lost.Rerun == store.Intended) && lost.RerunAttempt == view.Attempt-1 {
		want = afterLoss(want)
	}
	out, err := w.cache.store.Submit(ctx, want)
	if errors.Is(err, store.ErrOldAttempt) {
		return nil // a client was quicker, and is served
	}
	if err != nil {
		return err
	}
	w.log.Info("asking again for a run that goes on", logkey.RequestID, r.id, logkey.Attempt, out.Attempt, logkey.Run, view.ID, logkey.Count, n)
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

// cancel cancels the run of a request that failed while nobody waits for it: its jobs would wait for a day. One of them was found
// in GitHub's own list before. Why is said first, since nothing is done to a run that is over.
func (w *watcher) cancel(ctx context.Context, r run, view githubapi.WorkflowRun) error {
	if err := w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Cancel = store.Intended }); err != nil {
		return err
	}
	why := fmt.Sprintf("remuda has no runners for this run: %s: %s", r.status.Reason, r.status.Message)
	w.checks.leave(ctx, r, view, "failed", "No runners", why)
	end, detail := store.Done, "its run was cancelled: nobody waits for it"
	err := w.github.CancelRun(ctx, r.workflow().Repository, view.ID)
	switch {
	case err == nil:
		w.log.Warn("cancelled a run: its request failed, and nobody waits for it", logkey.RequestID, r.id, logkey.Run, view.ID,
			logkey.Reason, r.status.Reason, logkey.Detail, r.status.Message)
	case errors.Is(err, githubapi.ErrRefused):
		end, detail = store.NotDone, "its run could not be cancelled: "+err.Error()
		w.log.Error("a run could not be cancelled whose request failed: its jobs wait", logkey.RequestID, r.id, logkey.Run, view.ID, logkey.Error, err)
	default:
		return err
	}
	return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Cancel, watch.Detail = end, detail })
}

// unproven says once that nothing is done to the run of a request that failed, since GitHub's own list shows no job of it.
func (w *watcher) unproven(ctx context.Context, r run, view githubapi.WorkflowRun) error {
	const why = "its run is left alone: none of its jobs has the request's label and no other one"
	if r.status.Watch.Detail == why {
		return nil
	}
	w.log.Warn("a request failed for which nobody waits, and its run is left alone: none of its jobs has the request's label",
		logkey.RequestID, r.id, logkey.Run, view.ID)
	return w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) { watch.Detail = why })
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
