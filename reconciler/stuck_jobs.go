package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// stuckJobs finds queued jobs of watched runs that no runner takes. It reports them, and releases instances that no other job needs. A
// runner of remuda has one label, the id of its request, and no other runner has that label. A job is reported only if its labels name a
// request of ours, and GitHub lists no runner with all of its labels. The label self-hosted alone names no request: a fleet that has no
// runner yet may start one for the job.
type stuckJobs struct {
	*tenure
	cache    *cache
	statuses *statuses
	checks   *checkRuns
	github   GitHub
}

const (
	// readAfter is how many consecutive polls must find a run suspicious before its jobs are read. Most instances are idle for a moment
	// between two jobs, and each read costs a call of the share for watching.
	readAfter = 3
	// readEvery is how many polls pass at least between two reads while other jobs of the run are in progress. The pause grows with
	// the number of polls, up to readSeldom: a run that stays suspicious and healthy must not use up the share for watching.
	readEvery, readSeldom = 8, 64
	// reportAfter is how many consecutive reads must show a stuck job before it is reported.
	reportAfter = 2
	// listedLate is how late GitHub's lists may be. A job queued before the last runner of a request ended may have been assigned.
	listedLate = time.Minute
)

// stuckRun is the state of a run's jobs that a leader keeps in memory.
type stuckRun struct {
	attempt  int
	status   string
	polls    int           // consecutive polls that found the run suspicious, with the present attempt and status
	next     int           // the poll of the next read; 0: the next one
	seen     map[int64]int // consecutive reads that showed the job stuck, by job
	reported map[int64]bool
	all      time.Time // since when all open jobs are stuck; zero: not all are
}

// stuckJob is a queued job that no runner takes, according to the labels that remuda knows.
type stuckJob struct {
	githubapi.WorkflowJob
	request store.RequestID // the request that the job names; "": all requests of the run that hold instances
	why     string
}

// poll judges the queued jobs of a run, and reports the jobs that no runner takes.
func (s *stuckJobs) poll(ctx context.Context, repo *watchedRepository, requests []run, view githubapi.WorkflowRun, gone bool, jobs *runJobs) error {
	if gone || view.Completed() {
		delete(repo.stuck, view.ID)
		return s.record(ctx, requests, view, nil)
	}
	for _, r := range requests {
		if r.status == nil || r.status.Attempt < r.request.Attempt || view.Attempt < r.workflow().Attempt {
			return nil // the request is not accepted yet, or the list is late
		}
	}
	of := repo.stuckRun(view)
	last := lastReport(requests)
	of.polls++
	if len(of.seen) == 0 && last.IsZero() {
		if !s.suspicious(requests, view) {
			of.polls, of.next = 0, 0
			return nil
		}
		if of.polls < max(readAfter, of.next) {
			return nil
		}
		if view.Status != githubapi.StatusQueued {
			of.pause()
		}
	}
	all, err := jobs.all(ctx)
	if err != nil {
		return err
	}
	reported := time.Time{} // by the leader before; its report stays while the job waits
	if of.seen == nil {
		reported = last
	}
	now, open, stuck := map[int64]int{}, 0, []stuckJob(nil)
	for _, job := range all {
		if job.Status == githubapi.StatusCompleted {
			continue
		}
		open++
		one, is := s.judge(requests, view, job, all)
		if !is {
			continue
		}
		if now[job.ID] = of.seen[job.ID] + 1; now[job.ID] >= reportAfter || !reported.IsZero() {
			stuck = append(stuck, one)
		}
	}
	if stuck, err = s.withoutTaken(ctx, of, stuck); err != nil {
		return err
	}
	for id, reads := range now { // the list of runners is not read at each poll
		if reads >= reportAfter && !of.reported[id] {
			delete(now, id)
			of.pause()
		}
	}
	of.seen = now
	switch {
	case open == 0 || len(stuck) < open:
		of.all = time.Time{}
	case of.all.IsZero() && !reported.IsZero():
		of.all = reported
	case of.all.IsZero():
		of.all = s.clock.Now()
	}
	return s.record(ctx, requests, view, stuck)
}

// pause delays the next read.
func (of *stuckRun) pause() { of.next = of.polls + min(max(of.polls/4, readEvery), readSeldom) }

// lastReport returns when stuck jobs of requests were last reported. It is zero if none are.
func lastReport(requests []run) (at time.Time) {
	for _, r := range requests {
		if r.status != nil {
			at = later(at, r.status.Watch.WaitsSince.Time)
		}
	}
	return at
}

// suspicious reports whether a job of a run may be stuck: a request holds an idle instance or gets no more instances, or all are over.
func (s *stuckJobs) suspicious(requests []run, view githubapi.WorkflowRun) bool {
	live := false
	for _, r := range requests {
		live = live || r.alive(r.status.Attempt)
		if why, _ := s.over(r, view); why != "" || s.hasIdle(r) {
			return true
		}
	}
	return !live
}

// hasIdle reports whether a request in phase Ready holds an instance without a job.
func (s *stuckJobs) hasIdle(r run) bool {
	return r.alive(r.status.Attempt) && r.status.Phase == statemachine.Ready &&
		slices.ContainsFunc(s.cache.instances.heldFor(r.id, r.status.Attempt), func(in snapshot) bool { return !in.busy() })
}

// judge returns why no runner takes a job, and false if a runner may take it.
func (s *stuckJobs) judge(requests []run, view githubapi.WorkflowRun, job githubapi.WorkflowJob, all []githubapi.WorkflowJob) (stuckJob, bool) {
	if job.Status != githubapi.StatusQueued {
		return stuckJob{}, false
	}
	label, r, known := named(requests, view, job)
	labels := strings.Join(job.Labels, ", ")
	is := func(why string) (stuckJob, bool) {
		return stuckJob{job, r.id, fmt.Sprintf("waits under the labels [%s], and %s", labels, why)}, true
	}
	switch {
	case label == "", !known && slices.ContainsFunc(all, s.mayAsk):
		return stuckJob{}, false
	case !known:
		return is(fmt.Sprintf("remuda has no request %s", label))
	case len(job.Labels) > 1:
		return is(fmt.Sprintf("the runners of request %s have no other label than %s; use it alone in runs-on", r.id, r.id))
	}
	why, since := s.over(r, view)
	if why == "" || job.CreatedAt.Before(since.Truncate(time.Second)) && s.clock.Since(since) < listedLate {
		return stuckJob{}, false
	}
	return is(why)
}

// namesRun reports whether a label has the form of the request ids that the action creates for a run.
func namesRun(label string, view githubapi.WorkflowRun) bool {
	id := strconv.FormatInt(view.ID, 10)
	return label == id || strings.HasPrefix(label, id+"-")
}

// named returns the label of a job that is, or looks like, the id of a request for this run. It also returns the request if it is known.
func named(requests []run, view githubapi.WorkflowRun, job githubapi.WorkflowJob) (string, run, bool) {
	form := ""
	for _, label := range job.Labels {
		for _, r := range requests {
			if strings.EqualFold(string(r.id), label) {
				return label, r, true
			}
		}
		if namesRun(label, view) {
			form = label
		}
	}
	return form, run{}, false
}

// mayAsk reports whether a job may still request runners: it runs, and on no runner of remuda.
func (s *stuckJobs) mayAsk(job githubapi.WorkflowJob) bool {
	_, ours := s.cache.ownerOf(job.RunnerName)
	return job.Status == githubapi.StatusInProgress && !ours
}

// over returns why and since when a request has no more runners for a job. The reason is "" if the request has or will get runners.
func (s *stuckJobs) over(r run, view githubapi.WorkflowRun) (string, time.Time) {
	st := r.status
	back := r.backFor()
	switch {
	case len(s.cache.instances.heldBy(r.id)) > 0, r.unanswered(), view.Attempt > r.workflow().Attempt, back != "":
		return "", time.Time{} // the run is canceled, the request is asked for again, or the list is late
	case st.Phase == statemachine.PhaseReleased && r.request.Released():
		return fmt.Sprintf("request %s was released", r.id), st.ReleasedAt.Time
	case st.Phase == statemachine.PhaseReleased:
		return fmt.Sprintf("request %s is over (%s)", r.id, st.Reason), st.ReleasedAt.Time
	case st.Phase == statemachine.Failed && st.Counts.Launched+st.Counts.Claimed+st.Counts.Created+st.Counts.Ready == 0:
		return fmt.Sprintf("request %s failed: %s", r.id, st.Reason), time.Time{} // the request never had a runner
	case st.Phase == statemachine.Failed:
		return fmt.Sprintf("request %s failed: %s", r.id, st.Reason), st.ChangedAt.Time
	case st.Phase == statemachine.Ready && st.Message != "" && !aboutSeat(st.Message, ""):
		return fmt.Sprintf("request %s has no instance left: %s", r.id, st.Message), st.ChangedAt.Time
	}
	return "", time.Time{}
}

// withoutTaken drops the jobs that a listed runner can take. It lists GitHub's runners only if it is about to report another job.
func (s *stuckJobs) withoutTaken(ctx context.Context, of *stuckRun, stuck []stuckJob) ([]stuckJob, error) {
	fresh := slices.ContainsFunc(stuck, func(j stuckJob) bool { return !of.reported[j.ID] })
	of.reported = map[int64]bool{}
	if fresh {
		runners, err := s.github.Runners(ctx)
		if err != nil {
			return nil, err
		}
		stuck = slices.DeleteFunc(stuck, func(j stuckJob) bool {
			return slices.ContainsFunc(runners, func(r githubapi.Runner) bool { return s.takes(r, j.WorkflowJob) })
		})
	}
	for _, j := range stuck {
		of.reported[j.ID] = true
	}
	return stuck, nil
}

// takes reports whether a runner can take a job: it has all labels, and is online or does not belong to remuda.
func (s *stuckJobs) takes(r githubapi.Runner, job githubapi.WorkflowJob) bool {
	_, ours := s.cache.ownerOf(r.Name)
	return (r.Online || !ours) && !slices.ContainsFunc(job.Labels, func(want string) bool {
		return !slices.ContainsFunc(r.Labels, func(has string) bool { return strings.EqualFold(has, want) })
	})
}

// record writes the stuck jobs into the statuses of their requests, and clears old reports.
func (s *stuckJobs) record(ctx context.Context, requests []run, view githubapi.WorkflowRun, stuck []stuckJob) error {
	var errs []error
	for _, r := range requests {
		r, ok := s.cache.requests.getRun(r.id) // the present record
		if !ok || r.request == nil || r.status == nil || r.status.Phase == statemachine.Ready && r.request.Released() {
			continue // the status of a released request is written after its instances
		}
		text := s.textFor(r, requests, stuck)
		if text == r.status.Watch.Waits {
			continue
		}
		if text != "" {
			s.log.Warn("jobs wait for no runner", logkey.RequestID, r.id, logkey.Run, view.ID, logkey.Detail, text)
			s.checks.leave(ctx, r, view, "stuck", "Jobs wait for no runner", text)
		}
		errs = append(errs, s.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) {
			watch.Waits, watch.WaitsSince = text, store.Time{}
			if text != "" {
				watch.WaitsSince = store.At(s.clock.Now())
			}
		}))
	}
	return errors.Join(errs...)
}

// mostStuckShown bounds how many jobs a report names.
const mostStuckShown = 3

// textFor reports the stuck jobs of a request. Jobs that name no known request are reported by each request of the run.
func (s *stuckJobs) textFor(r run, requests []run, stuck []stuckJob) string {
	live := slices.ContainsFunc(requests, func(o run) bool { return o.status != nil && o.alive(o.status.Attempt) })
	var texts []string
	for _, j := range stuck {
		if j.request == r.id || j.request == "" && (!live || r.alive(r.status.Attempt)) {
			texts = append(texts, fmt.Sprintf("job %s %s", store.Head(j.Name, 100), store.Head(j.why, 300)))
		}
	}
	if n := len(texts) - mostStuckShown; n > 0 {
		texts = append(texts[:mostStuckShown], fmt.Sprintf("and %d more", n))
	}
	return store.Head(strings.Join(texts, "; "), store.MaxMessage)
}

// idleFor returns for how long all open jobs of a run have been stuck and reported; 0 if not all are.
func (s *stuckJobs) idleFor(repo *watchedRepository, view githubapi.WorkflowRun, requests []run) time.Duration {
	of := repo.stuck[view.ID]
	if of == nil || of.all.IsZero() {
		return 0
	}
	return s.clock.Since(later(of.all, lastReport(requests)))
}
