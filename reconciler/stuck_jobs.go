package reconciler

import (
	"context"
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

// stuckJobs finds queued jobs of watched runs that no runner takes, reports them, and returns instances that are held for nothing else.
// Runners of remuda have one label, the id of their request. A job is reported only if its labels name a request by that id, which no
// other runner has for a label; and only while GitHub lists no runner with all of the job's labels.
type stuckJobs struct {
	*tenure
	cache    *cache
	statuses *statuses
	checks   *checkRuns
	github   GitHub
}

const (
	// surelyAfter is how many reads in a row show a job that is stuck for certain until it is reported.
	surelyAfter = 2
	// perhapsAfter is the same for a job that a fleet without idle runners may be about to serve: two minutes by default.
	perhapsAfter = 8
	// listedLate is how late GitHub's lists may be. A job that was queued before a request had its last runner may have been taken.
	listedLate = time.Minute
)

// selfHosted is a label that the runner program adds to each runner unless it is told not to.
const selfHosted = "self-hosted"

// stuckRun is what a tenure remembers of a run's jobs.
type stuckRun struct {
	attempt  int
	status   string
	reads    int           // since the run has this attempt and this status
	seen     map[int64]int // by job: reads in a row that showed it stuck
	reported map[int64]bool
	all      time.Time // since when all open jobs are stuck; zero: they are not
}

// stuckJob is a job that no runner takes, as far as remuda knows.
type stuckJob struct {
	githubapi.WorkflowJob
	request store.RequestID // that it names; "": all of the run that hold something
	why     string
	after   int // reads
}

// look judges the queued jobs of a run, and reports those that no runner takes.
func (s *stuckJobs) look(ctx context.Context, repo *watchedRepository, requests []run, view githubapi.WorkflowRun, gone bool, jobs *runJobs) error {
	if gone || view.Completed() {
		delete(repo.stuck, view.ID)
		return s.record(ctx, requests, view, nil)
	}
	for _, r := range requests {
		if r.status == nil || r.status.Attempt < r.request.Attempt || view.Attempt < r.workflow().Attempt {
			return nil // it was not accepted yet, or the list is late
		}
	}
	of := repo.stuckRun(view)
	if of.reads++; len(of.seen) == 0 && of.reads&(of.reads-1) != 0 && !s.suspicious(requests, view) {
		return nil // the first, second, fourth and so on cost a call each
	}
	all, err := jobs.all(ctx)
	if err != nil {
		return err
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
		if now[job.ID] = of.seen[job.ID] + 1; now[job.ID] >= one.after {
			stuck = append(stuck, one)
		}
	}
	of.seen = now
	if stuck, err = s.withoutTaken(ctx, of, stuck); err != nil {
		return err
	}
	switch {
	case open == 0 || len(stuck) < open:
		of.all = time.Time{}
	case of.all.IsZero():
		of.all = s.clock.Now()
	}
	return s.record(ctx, requests, view, stuck)
}

// suspicious reports whether the jobs of a run are read each time: a job is queued, and nothing is held for the run or something of it
// is idle.
func (s *stuckJobs) suspicious(requests []run, view githubapi.WorkflowRun) bool {
	if view.Status != githubapi.StatusQueued {
		return false
	}
	live := false
	for _, r := range requests {
		live = live || r.alive(r.status.Attempt)
		if s.hasIdle(r) {
			return true
		}
	}
	return !live
}

// hasIdle reports whether a request that is Ready has an instance without a job.
func (s *stuckJobs) hasIdle(r run) bool {
	return r.alive(r.status.Attempt) && r.status.Phase == statemachine.Ready &&
		slices.ContainsFunc(s.cache.instances.heldFor(r.id, r.status.Attempt), func(in snapshot) bool { return !in.busy() })
}

// judge reports whether no runner takes a job, as far as remuda knows, and why.
func (s *stuckJobs) judge(requests []run, view githubapi.WorkflowRun, job githubapi.WorkflowJob, all []githubapi.WorkflowJob) (stuckJob, bool) {
	if job.Status != githubapi.StatusQueued || len(job.Labels) == 0 {
		return stuckJob{}, false
	}
	label, r, known := named(requests, view, job)
	sure := surelyAfter
	if known && !namesRun(label, view) {
		sure = perhapsAfter // a label that another fleet may have, too
	}
	labels := strings.Join(job.Labels, ", ")
	is := func(after int, why string) (stuckJob, bool) {
		return stuckJob{job, r.id, fmt.Sprintf("waits under the labels [%s], and %s", labels, why), after}, true
	}
	alone := len(job.Labels) == 1
	switch {
	case label == "" && alone && strings.EqualFold(job.Labels[0], selfHosted) && slices.ContainsFunc(requests, s.hasHad):
		return is(perhapsAfter, "the runners of the run have the id of their request as their only label; use it in runs-on")
	case label == "":
		return stuckJob{}, false
	case !alone && known:
		return is(sure, fmt.Sprintf("the runners of request %s have no other label than %s; use it alone in runs-on", r.id, r.id))
	case !alone:
		return is(perhapsAfter, fmt.Sprintf("remuda has no request %s", label))
	case !known && slices.ContainsFunc(all, s.mayAsk):
		return stuckJob{}, false
	case !known:
		return is(surelyAfter, fmt.Sprintf("remuda has no request %s", label))
	}
	why, since := s.over(r, view)
	if why == "" || job.CreatedAt.Before(since.Truncate(time.Second)) && s.clock.Since(since) < listedLate {
		return stuckJob{}, false
	}
	return is(sure, why)
}

// hasHad is hasIdle, also of a request that was released for that.
func (s *stuckJobs) hasHad(r run) bool { return s.hasIdle(r) || r.backFor() == store.RunStuck }

// namesRun reports whether a label has the form of the ids that the action gives the requests of a run.
func namesRun(label string, view githubapi.WorkflowRun) bool {
	id := strconv.FormatInt(view.ID, 10)
	return label == id || strings.HasPrefix(label, id+"-")
}

// named returns the label of a job that is the id of a request for the same run or has its form, and the request if it is known.
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

// mayAsk reports whether a job may still ask for runners: it runs, and on no runner of remuda.
func (s *stuckJobs) mayAsk(job githubapi.WorkflowJob) bool {
	_, ours := s.cache.ownerOf(job.RunnerName)
	return job.Status == githubapi.StatusInProgress && !ours
}

// over returns why a request has no runners for a job any more, and since when; "" if it has, or will have.
func (s *stuckJobs) over(r run, view githubapi.WorkflowRun) (string, time.Time) {
	st := r.status
	back := r.backFor()
	switch {
	case len(s.cache.instances.heldBy(r.id)) > 0, r.unanswered(), view.Attempt > r.workflow().Attempt, back != "":
		return "", time.Time{} // it is canceled or asked for again, or the list is late
	case st.Phase == statemachine.PhaseReleased && r.request.Released():
		return fmt.Sprintf("request %s was released", r.id), st.ReleasedAt.Time
	case st.Phase == statemachine.PhaseReleased:
		return fmt.Sprintf("request %s is over (%s)", r.id, st.Reason), st.ReleasedAt.Time
	case st.Phase == statemachine.Failed && st.Counts.Launched+st.Counts.Claimed+st.Counts.Created+st.Counts.Ready == 0:
		return fmt.Sprintf("request %s failed: %s", r.id, st.Reason), time.Time{} // it never had a runner
	case st.Phase == statemachine.Failed:
		return fmt.Sprintf("request %s failed: %s", r.id, st.Reason), st.ChangedAt.Time
	case st.Phase == statemachine.Ready && st.Message != "" && !aboutSeat(st.Message, ""):
		return fmt.Sprintf("request %s has no instance left: %s", r.id, st.Message), st.ChangedAt.Time
	}
	return "", time.Time{}
}

// withoutTaken drops the jobs that a runner can take which GitHub lists. The list is read when another job is about to be reported.
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

// takes reports whether a runner can take a job: it has all labels, and is online or not of remuda.
func (s *stuckJobs) takes(r githubapi.Runner, job githubapi.WorkflowJob) bool {
	_, ours := s.cache.ownerOf(r.Name)
	return (r.Online || !ours) && !slices.ContainsFunc(job.Labels, func(want string) bool {
		return !slices.ContainsFunc(r.Labels, func(has string) bool { return strings.EqualFold(has, want) })
	})
}

// record writes what is stuck into the statuses of the requests that it concerns, and takes back what is not any more.
func (s *stuckJobs) record(ctx context.Context, requests []run, view githubapi.WorkflowRun, stuck []stuckJob) error {
	for _, r := range requests {
		r, ok := s.cache.requests.getRun(r.id) // as it is by now
		if !ok || r.request == nil || r.status == nil || r.status.Phase == statemachine.Ready && r.request.Released() {
			continue // a request that is being released is written once its instances are
		}
		text := s.textFor(r, requests, stuck)
		if text == r.status.Watch.Waits {
			continue
		}
		if text != "" {
			s.log.Warn("jobs wait for no runner", logkey.RequestID, r.id, logkey.Run, view.ID, logkey.Detail, text)
			s.checks.leave(ctx, r, view, "stuck", "Jobs wait for no runner", text)
		}
		err := s.statuses.noteWatch(ctx, r.id, func(watch *store.Watch) {
			watch.Waits, watch.WaitsSince = text, store.Time{}
			if text != "" {
				watch.WaitsSince = store.At(s.clock.Now())
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mostStuckShown bounds the jobs that a report names.
const mostStuckShown = 3

// textFor is the report of the jobs that name a request; of those that name none of the known ones, each request of the run reports.
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

// idleFor returns for how long all open jobs of a run have been stuck, and reported; 0: they are not. A new leader counts anew.
func (s *stuckJobs) idleFor(repo *watchedRepository, view githubapi.WorkflowRun, requests []run) time.Duration {
	of := repo.stuck[view.ID]
	if of == nil || of.all.IsZero() {
		return 0
	}
	since := of.all
	for _, r := range requests {
		if cur, ok := s.cache.requests.getRun(r.id); ok && cur.status != nil {
			since = later(since, cur.status.Watch.WaitsSince.Time)
		}
	}
	return s.clock.Since(since)
}
