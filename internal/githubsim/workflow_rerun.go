package githubsim

import (
	"net/http"
	"slices"
	"time"
)

// How long and how often a run can be run again (GitHub Docs, "Re-running workflows and jobs").
const (
	rerunFor  = 30 * 24 * time.Hour
	mostRerun = 50
)

// What GitHub says instead: cli/cli#9221 and metabase/metabase#70916 show the first two, which it gives for whatever
// else cannot be run again, too.
var (
	errStillRunning = &refused{http.StatusForbidden, "This workflow is already running"}
	errNoRerun      = &refused{http.StatusForbidden, "This workflow run cannot be retried"}
)

// rerun begins another attempt of a run, in which the jobs that again chooses are run again, and whatever needs them.
func (w *Workflows) rerun(r *run, again func(*task) bool, now time.Time) error {
	last := r.latest()
	switch {
	case !last.completed():
		return errStillRunning
	case now.After(r.createdAt.Add(rerunFor)), last.number > mostRerun, !slices.ContainsFunc(last.tasks, again):
		return errNoRerun
	}
	next := &attempt{number: last.number + 1, startedAt: now.UTC()}
	anew := map[string]bool{} // keys of which something is run again
	for i := range r.Jobs {
		s := &r.Jobs[i]
		of := last.of(s.Key)
		needs := slices.ContainsFunc(s.Needs, func(key string) bool { return anew[key] })
		legs := slices.DeleteFunc(slices.Clone(of), func(t *task) bool { return !again(t) })
		anew[s.Key] = needs || len(legs) > 0
		if needs || len(legs) == len(of) {
			next.tasks = append(next.tasks, newTask(s, "")) // its matrix is made again
			continue
		}
		for _, t := range of {
			if again(t) {
				next.tasks = append(next.tasks, newTask(s, t.leg))
				continue
			}
			carried := &task{job: &job{JobRecord: t.JobRecord}, spec: s, leg: t.leg, madeAt: t.madeAt, shownAt: now.UTC()}
			w.number(carried)
			next.tasks = append(next.tasks, carried)
		}
	}
	r.attempts = append(r.attempts, next)
	w.advance(r, now)
	return nil
}

func newTask(s *JobSpec, leg string) *task {
	return &task{job: &job{JobRecord: JobRecord{State: Pending}}, spec: s, leg: leg}
}

// advance decides what becomes of every job whose needs are over.
func (w *Workflows) advance(r *run, now time.Time) {
	a := r.latest()
	for {
		i := slices.IndexFunc(a.tasks, func(t *task) bool {
			if t.State != Pending {
				return false
			}
			over, _ := a.ready(t.spec)
			return over
		})
		if i < 0 {
			return
		}
		t := a.tasks[i]
		_, runs := a.ready(t.spec)
		if runs && t.leg == "" && len(t.spec.Matrix) > 0 {
			var legs []*task
			for _, name := range t.spec.Matrix {
				legs = append(legs, newTask(t.spec, name))
			}
			a.tasks = slices.Replace(slices.Clone(a.tasks), i, i+1, legs...)
			continue
		}
		t.madeAt, t.shownAt = now.UTC(), now.UTC()
		w.number(t)
		switch {
		case !runs:
			t.end(Skipped, "", now)
		case t.spec.Approval:
			t.State = Waiting
		default:
			w.begin(r, t, now)
		}
	}
}

// begin gives a job to GitHub's own runners or to the queue of everybody else's.
func (w *Workflows) begin(r *run, t *task, now time.Time) {
	t.ended = func(now time.Time) { w.advance(r, now) }
	t.Job = jobOf(r, t)
	if t.spec.Hosted {
		w.hosted.begin(t, now)
		return
	}
	w.hub.dispatcher.submit(t.job, now)
}

// cancel ends an attempt: what is queued or waits at once, what runs through its runner, but for the jobs that run
// always (GitHub Docs, "Canceling a workflow").
func (w *Workflows) cancel(r *run, now time.Time) error {
	a := r.latest()
	if a.completed() {
		return errCompleted
	}
	if a.cancelledAt.IsZero() {
		a.cancelledAt = now.UTC()
	}
	for _, t := range slices.Clone(a.tasks) {
		switch {
		case t.spec.Always:
		case t.State == Waiting:
			t.end(Cancelled, "", now)
		case t.State == Running && t.spec.Hosted:
			w.hosted.end(t, Cancelled, "", now)
		default:
			w.hub.dispatcher.cancel(t.job, now)
		}
	}
	w.advance(r, now)
	return nil
}

// errCompleted is shown in technote-space/auto-cancel-redundant-workflow#68.
var errCompleted = &refused{http.StatusConflict, "Cannot cancel a workflow run that is completed."}
