package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// runs are what the world knows of the workflow runs that requests name: GitHub as it is, never as the product saw it.
type runs struct {
	w *World
}

// quietAfter is how long no job of a run's label has waited or run, while the run waits, until its machines may go back. It is
// written out here so that the product's own is judged, too. It has no pace: it is of the run at GitHub.
const quietAfter = 5 * time.Minute

// over returns since when what a request names needs its machines no longer; zero: it does, or the request names no run.
func (r *runs) over(a asked) time.Time {
	named, ok := a.Workflow()
	if !ok {
		return time.Time{}
	}
	all, err := r.w.hub.Workflows().Attempts(named.Run)
	if err != nil || !strings.EqualFold(all[0].Repository, named.Repository) {
		return a.first // there is no such run
	}
	if len(all) < named.Attempt {
		return time.Time{}
	}
	one := all[named.Attempt-1]
	switch quiet := r.waits(one, string(a.ID)); {
	case !quiet.IsZero():
		return quiet
	case one.Status == githubapi.StatusCompleted:
		return ended(one)
	case len(all) > named.Attempt:
		return all[named.Attempt].StartedAt
	}
	return time.Time{}
}

// ended returns when an attempt that is completed was.
func ended(one githubsim.RunRecord) time.Time {
	at := one.StartedAt
	for _, j := range one.Jobs {
		at = later(at, j.FinishedAt)
	}
	return at
}

// busyTime is a time in which a job of a run waited for a runner or ran; to zero: it still does.
type busyTime struct {
	from, to time.Time
}

// waits returns the first instant at which an attempt waited for an approval and no job of a label had waited or run for so
// long that its machines may go back; zero: there was none.
func (r *runs) waits(one githubsim.RunRecord, label string) time.Time {
	mine, all := r.busy(one, label)
	now, last := r.w.clock.Now(), one.StartedAt
	if one.Status == githubapi.StatusCompleted {
		now = ended(one)
	}
	for _, s := range append(mine, busyTime{now, now}) {
		if at := idle(all, last.Add(quietAfter)); at.Before(s.from) {
			return at
		}
		if s.to.IsZero() {
			return time.Time{}
		}
		last = later(last, s.to)
	}
	return time.Time{}
}

// idle returns the first instant, from one on, in none of the spans. They are in order.
func idle(all []busyTime, at time.Time) time.Time {
	for _, s := range all {
		switch {
		case at.Before(s.from):
			return at
		case s.to.IsZero():
			return s.from.AddDate(1, 0, 0)
		}
		at = later(at, s.to)
	}
	return at
}

// busy returns when jobs of an attempt waited for a runner or ran, in order: those of a label, and all.
func (r *runs) busy(one githubsim.RunRecord, label string) (mine, all []busyTime) {
	queued := map[string]time.Time{}
	for _, j := range r.w.hub.Jobs() {
		queued[j.ID] = j.QueuedAt
	}
	for _, j := range one.Jobs {
		from, known := queued[strconv.FormatInt(j.ID, 10)]
		switch {
		case !known && j.StartedAt.IsZero(), known && from.IsZero(), !j.FinishedAt.IsZero() && j.FinishedAt.Before(one.StartedAt):
			continue // it waits for an approval, was skipped, or ran in an earlier attempt
		case !known:
			from = j.StartedAt
		}
		s := busyTime{from, j.FinishedAt}
		all = append(all, s)
		if strings.EqualFold(j.Label, label) {
			mine = append(mine, s)
		}
	}
	early := func(a, b busyTime) int { return a.from.Compare(b.from) }
	slices.SortStableFunc(mine, early)
	slices.SortStableFunc(all, early)
	return mine, all
}

// cancelled reports whether somebody cancelled the run of a job.
func (r *runs) cancelled(j githubsim.JobRecord) bool {
	id, err := strconv.ParseInt(j.RunID, 10, 64)
	if err != nil || j.RunAttempt == 0 {
		return false // it is of no run
	}
	all, err := r.w.hub.Workflows().Attempts(id)
	return err == nil && j.RunAttempt <= len(all) && all[j.RunAttempt-1].Conclusion == githubapi.ConclusionCancelled
}
