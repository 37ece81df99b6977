package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// watcher looks at the runs of requests, repository by repository, and does what clients would do that were still there: gives
// back what is over, and asks again for what goes on. It is a client of the table like any other.
type watcher struct {
	*tenure
	cache    *cache
	statuses *statuses
	lost     *lostJobs
	stuck    *stuckJobs
	checks   *checkRuns
	github   guardedRuns
	known    watchedRepositories
	turns    runTurns
}

// watchers is how many repositories are looked at at once.
const watchers = 4

// deniedFor is how long a repository is left alone whose runs GitHub does not show: somebody has to allow it.
const deniedFor = 10 * time.Minute

// missedBefore is how often a run is not found in a repository that can be read until it counts as over: a
// run that was deleted, or the answer of a replica that is late.
const missedBefore = 3

// look looks at a repository in its turn.
func (w *watcher) look(ctx context.Context, name string) (Result, error) {
	repo := w.known.get(name)
	if repo.look != nil && !repo.look.resumes(w.cfg.Watch.Poll, w.clock.Now()) {
		repo.look = nil
		w.leave(name) // it has had its turn
	}
	if !w.turns.may(name) {
		return Result{After: w.cfg.Watch.Poll}, nil // the one before it wakes it sooner
	}
	res, err := w.pass(ctx, repo)
	at, put := githubapi.RetryAt(err)
	if repo.look != nil {
		repo.look.failed = err != nil && !put
	}
	if put {
		w.turns.hold(name)
		return wakeAt(at, w.clock.Now()), nil
	}
	w.leave(name)
	return res, err
}

// leave lets the next repository have its turn, if any waits for that.
func (w *watcher) leave(name string) {
	if next := w.turns.leave(name); next != "" {
		w.queues.runs.Add(next)
	}
}

// pass goes over a repository, or goes on with that.
func (w *watcher) pass(ctx context.Context, repo *watchedRepository) (Result, error) {
	name := repo.name
	requests := slices.DeleteFunc(w.cache.requests.ofRepository(name), func(r run) bool { return !w.cares(r) })
	if len(requests) == 0 && name != w.cfg.Watch.own() {
		w.known.forget(name)
		w.checks.forget(name)
		w.cache.requests.setWatch(name, "", "")
		if slices.ContainsFunc(w.cache.requests.ofRepository(name), w.cares) {
			return Result{}.sooner(time.Millisecond), nil // accept has just found the repository to be watched, and did not queue it
		}
		return Result{}, nil // the next request for a run of it brings it back
	}
	if repo.look == nil {
		repo.look = newLook(requests, w.clock.Now())
	}
	if !repo.look.listed {
		active, err := w.github.ActiveRuns(ctx, name)
		if err != nil {
			return w.unseen(ctx, repo, requests, err)
		}
		repo.listed(active)
	}
	repo.retain(requests)
	unnoted := w.note(ctx, repo, requests, store.Watched, "") // a failed note must not stop the reading of runs
	if err := errors.Join(w.lookAtRuns(ctx, repo, byRun(requests)), unnoted); err != nil {
		return Result{}, err
	}
	if err := w.forgotten(ctx, repo, requests); err != nil {
		return Result{}, err
	}
	w.checks.leaveLate(ctx, name)
	return Result{After: repo.pause(w.cfg.Watch.Poll)}, nil
}

// lookAtRuns looks at each run that was not looked at since the lists were read. What goes wrong with one delays no other, unless
// GitHub wants no more calls.
func (w *watcher) lookAtRuns(ctx context.Context, repo *watchedRepository, runs [][]run) error {
	if err := w.learnEnds(ctx, repo, runs); err != nil {
		return fmt.Errorf("completed runs of %s: %w", repo.name, err)
	}
	var errs []error
	for _, of := range startingAfter(repo.last, runs) {
		id := of[0].workflow().Run
		if !repo.look.due[id] {
			continue
		}
		err := w.lookAtRun(ctx, repo, of)
		_, held := githubapi.RetryAt(err)
		switch {
		case err == nil:
			repo.looked(id)
		case held:
			return fmt.Errorf("run %d of %s: %w", id, repo.name, err)
		case errors.Is(err, githubapi.ErrRefused), errors.Is(err, store.ErrInvalid): // of this run alone: the next look asks again
			repo.looked(id)
			w.passOver(repo, of[0], err)
		default:
			errs = append(errs, fmt.Errorf("run %d of %s: %w", id, repo.name, err))
		}
	}
	return errors.Join(errs...)
}

// passOver says once that nothing can be done for a run: GitHub does not show it, or what is stored of a request is nothing that can
// be read or written. That is no reason to leave the repository's others alone: any workflow's role may write any request.
func (w *watcher) passOver(repo *watchedRepository, r run, err error) {
	repo.once(r, func() {
		w.log.Warn("nothing can be done for a run", logkey.Repository, repo.name, logkey.Run, r.workflow().Run, logkey.RequestID, r.id, logkey.Error, err)
	})
}

// cares reports whether a request's run may still need something: it holds machines or waits for them, or its jobs may
// be run again.
func (w *watcher) cares(r run) bool {
	if r.status == nil || r.alive(r.status.Attempt) || r.status.Attempt < r.request.Attempt {
		return true
	}
	return w.clock.Now().Before(r.status.ChangedAt.Add(w.cfg.Watch.Remember))
}

// byRun groups requests by the run that they are for, in the order of its id.
func byRun(requests []run) [][]run {
	groups := map[int64][]run{}
	var ids []int64
	for _, r := range requests {
		id := r.workflow().Run
		if groups[id] == nil {
			ids = append(ids, id)
		}
		groups[id] = append(groups[id], r)
	}
	slices.Sort(ids)
	out := make([][]run, 0, len(ids))
	for _, id := range ids {
		out = append(out, groups[id])
	}
	return out
}

// startingAfter begins with the first run after one and comes to that last: a look that is begun anew goes on with those that it had
// not come to.
func startingAfter(id int64, runs [][]run) [][]run {
	at := slices.IndexFunc(runs, func(of []run) bool { return of[0].workflow().Run > id })
	if at <= 0 {
		return runs
	}
	return slices.Concat(runs[at:], runs[:at])
}

// workflow is the run that a request names; the zero one if it names none.
func (r run) workflow() store.Workflow {
	named, _ := r.request.Workflow()
	return named
}

// unseen: the runs of a repository were not shown.
func (w *watcher) unseen(ctx context.Context, repo *watchedRepository, requests []run, err error) (Result, error) {
	if !errors.Is(err, githubapi.ErrRefused) {
		return Result{}, err
	}
	repo.look = nil
	if noted := w.note(ctx, repo, requests, store.WatchDenied, err.Error()); noted != nil {
		return Result{}, noted
	}
	return Result{After: deniedFor}, nil
}

// note writes down for whom it is news whether the runs of a repository are watched.
func (w *watcher) note(ctx context.Context, repo *watchedRepository, requests []run, state store.WatchState, detail string) error {
	switch was := w.cache.requests.setWatch(repo.name, state, detail); {
	case was == state:
	case state == store.WatchDenied:
		w.log.Warn("GitHub does not show the runs of a repository: what is for them needs a release job, and is not run again",
			logkey.Repository, repo.name, logkey.Error, detail)
	case was == store.WatchDenied:
		w.log.Info("GitHub shows the runs of a repository again", logkey.Repository, repo.name)
	}
	var errs []error
	for _, r := range requests {
		if r.status == nil || r.status.Watch.State == state || !r.alive(r.status.Attempt) && !r.unanswered() {
			continue
		}
		err := w.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) {
			if watch.State = state; watch.Cancel == "" && watch.Rerun == "" { // what was done to the run says more
				watch.Detail = detail
			}
		})
		if errors.Is(err, store.ErrInvalid) {
			w.passOver(repo, r, err)
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lookAtRun does what is due for the requests of one run.
func (w *watcher) lookAtRun(ctx context.Context, repo *watchedRepository, requests []run) error {
	id := requests[0].workflow().Run
	view, shown := repo.active[id]
	if !shown && !slices.ContainsFunc(requests, func(r run) bool { return w.urgent(repo, r) }) {
		return nil // it is over, or waits, and nothing is held for it
	}
	if !shown {
		found, known, err := w.find(ctx, repo, id)
		if err != nil {
			return err
		}
		if !known && repo.missed[id] < missedBefore {
			return nil
		}
		view, shown = found, known
	}
	jobs := &runJobs{repository: repo.name, view: view, github: w.github}
	var errs []error
	for _, r := range requests {
		if err := w.serve(ctx, repo, r, view, !shown, jobs); err != nil {
			errs = append(errs, err)
		}
	}
	if err := w.lookAtStuck(ctx, repo, requests, view, !shown, jobs); err != nil {
		errs = append(errs, err)
	}
	if shown && repo.settled[id] < view.Attempt {
		settled, err := w.lost.settle(ctx, requests, view, jobs)
		if errs = append(errs, err); settled && err == nil {
			repo.settled[id] = view.Attempt
		}
	}
	return errors.Join(errs...)
}

// lookAtStuck reports jobs of a run that no runner takes, and releases instances that no other job needs. If one of these jobs queues
// again, the controller asks for the request again.
func (w *watcher) lookAtStuck(ctx context.Context, repo *watchedRepository, requests []run, view githubapi.WorkflowRun, gone bool, jobs *runJobs) error {
	if err := w.stuck.poll(ctx, repo, requests, view, gone, jobs); err != nil {
		return err
	}
	idle := w.stuck.idleFor(repo, view, requests)
	for _, r := range requests {
		ready := r.status != nil && r.status.Phase == statemachine.Ready && r.alive(r.status.Attempt)
		if !ready || idle == 0 || idle < w.cfg.LimitsOf(r.request.ResourceClass).Idle {
			continue
		}
		if err := w.release(ctx, r, runStep{release: store.ReleaseDrain, reason: store.RunStuck}); err != nil {
			return err
		}
	}
	return nil
}

// urgent reports whether a request's run must be asked for by itself if the lists do not have it.
func (w *watcher) urgent(repo *watchedRepository, r run) bool {
	if r.status == nil {
		return false
	}
	named := r.workflow()
	return r.alive(r.status.Attempt) || r.unanswered() || r.status.Watch.Waits != "" || repo.settled[named.Run] < named.Attempt && w.lost.open(r)
}

// unanswered reports whether a request has failed for which nobody waits, so that its jobs would wait for a day.
func (r run) unanswered() bool {
	return r.request.NoWait && r.status.Attempt == r.request.Attempt && !r.status.FailedAt.IsZero() &&
		(r.status.Watch.Cancel == "" || r.status.Watch.Cancel == store.Intended)
}

// backFor returns why the controller released the request's attempt, or "". The record may still hold the reason of an earlier attempt.
func (r run) backFor() store.ReleaseReason {
	if r.request.Released() {
		return r.request.ReleaseReason
	}
	return ""
}

// serve does what is due for one request.
func (w *watcher) serve(ctx context.Context, repo *watchedRepository, r run, view githubapi.WorkflowRun, gone bool, jobs *runJobs) error {
	if r.status == nil || r.status.Attempt < r.request.Attempt {
		return nil // not taken up yet
	}
	f := runFacts{
		attempt: r.workflow().Attempt, count: r.request.Count, original: cmp.Or(r.request.OriginalCount, r.request.Count),
		byController: r.request.ByController(), live: r.alive(r.status.Attempt), failed: r.unanswered(), back: r.backFor(),
		age: w.clock.Since(r.status.PendingAt.Time), view: view, gone: gone,
	}
	step := nextRunStep(f)
	if !step.jobs {
		delete(repo.quietSince, r.id) // it does not wait
	} else {
		counted, err := jobs.of(ctx, string(r.id))
		if err != nil {
			return err
		}
		f.jobs, f.quiet = &counted, repo.quiet(r.id, counted, w.clock.Now())
		step = nextRunStep(f)
	}
	switch {
	case step.release != "":
		return w.release(ctx, r, step)
	case step.ask > 0:
		return w.ask(ctx, r, view, step.ask)
	case step.grow > 0:
		return w.grow(ctx, r, step.grow)
	case step.cancel:
		return w.cancel(ctx, r, view)
	case step.moot:
		return w.over(ctx, r, view)
	case f.failed && f.jobs != nil:
		return w.leftAlone(ctx, r, view, *f.jobs)
	}
	return nil
}
