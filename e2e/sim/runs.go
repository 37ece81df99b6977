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

// neverBegunAfter is how long an attempt has been named that a run, which is over, does not have, until it counts as over. It
// is written out here, too.
const neverBegunAfter = 30 * time.Minute

// attempts returns the attempts of the run that a request names, the first one first; none: there is no such run.
func (r *runs) attempts(a asked) (all []githubsim.RunRecord, named int, ok bool) {
	w, ok := a.Workflow()
	if !ok {
		return nil, 0, false
	}
	all, err := r.w.hub.Workflows().Attempts(w.Run)
	if err != nil || !strings.EqualFold(all[0].Repository, w.Repository) {
		return nil, w.Attempt, true
	}
	return all, w.Attempt, true
}

// over returns since when what a request names needs its machines no longer; zero: it does, or the request names no run.
func (r *runs) over(a asked) time.Time {
	at := r.ended(a)
	if waits := r.waits(a); len(waits) > 0 && (at.IsZero() || waits[0].from.Before(at)) {
		return waits[0].from
	}
	return at
}

// ended returns since when the attempt that a request names is completed, or another has taken its place; zero: it goes on.
func (r *runs) ended(a asked) time.Time {
	all, named, ok := r.attempts(a)
	switch {
	case !ok:
		return time.Time{}
	case len(all) == 0:
		return a.first // there is no such run
	case len(all) < named:
		at := a.first.Add(neverBegunAfter)
		if all[len(all)-1].Status != githubapi.StatusCompleted || at.After(r.w.clock.Now()) {
			return time.Time{}
		}
		return later(at, ended(all[len(all)-1]))
	case all[named-1].Status == githubapi.StatusCompleted:
		return ended(all[named-1])
	case len(all) > named:
		return all[named].StartedAt
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

// stretch is a time in which something was so; to zero: it still is.
type stretch struct {
	from, to time.Time
}

// touches reports whether it was so at some moment since an instant.
func (s stretch) touches(since time.Time) bool { return s.to.IsZero() || s.to.After(since) }

// waits returns when the attempt that a request names waited for an approval while no job of the request's label had waited or run
// for so long that its machines may go back.
func (r *runs) waits(a asked) []stretch {
	attempts, named, ok := r.attempts(a)
	if !ok || len(attempts) < named {
		return nil
	}
	one := attempts[named-1]
	mine, all := r.busy(one, string(a.ID))
	now := r.w.clock.Now()
	if at := r.ended(a); !at.IsZero() {
		now = at
	}
	var out []stretch
	last := one.StartedAt
	for _, s := range append(mine, stretch{now, time.Time{}}) {
		if quiet := last.Add(quietAfter); quiet.Before(s.from) {
			out = append(out, idle(all, stretch{quiet, s.from})...)
		}
		if s.to.IsZero() {
			break
		}
		last = later(last, s.to)
	}
	return out
}

// idle returns what is left of a stretch without all others, which are in order.
func idle(all []stretch, of stretch) []stretch {
	var out []stretch
	at := of.from
	for _, s := range all {
		if s.from.After(at) && at.Before(of.to) {
			out = append(out, stretch{at, earliest(s.from, of.to)})
		}
		if s.to.IsZero() {
			return out
		}
		at = later(at, s.to)
	}
	if at.Before(of.to) {
		out = append(out, stretch{at, of.to})
	}
	return out
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// busy returns when jobs of an attempt waited for a runner or ran, in order: those of a label, and all.
func (r *runs) busy(one githubsim.RunRecord, label string) (mine, all []stretch) {
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
		s := stretch{from, j.FinishedAt}
		all = append(all, s)
		if strings.EqualFold(j.Label, label) {
			mine = append(mine, s)
		}
	}
	early := func(a, b stretch) int { return a.from.Compare(b.from) }
	slices.SortStableFunc(mine, early)
	slices.SortStableFunc(all, early)
	return mine, all
}

// stuck returns since when all open jobs of a request's run wait under labels other than the request's; zero: not all do. For the laws no
// runner takes these jobs, so the run's instances may return to the pool after the idle limit.
func (r *runs) stuck(a asked) (at time.Time) {
	all, named, ok := r.attempts(a)
	if !ok || len(all) != named {
		return time.Time{}
	}
	open := false
	for _, j := range all[named-1].Jobs {
		switch {
		case j.Status == githubapi.StatusCompleted:
			at = later(at, j.FinishedAt)
		case j.Status == githubapi.StatusQueued && !strings.EqualFold(j.Label, string(a.ID)):
			open, at = true, later(at, j.CreatedAt)
		default:
			return time.Time{}
		}
	}
	if !open {
		return time.Time{}
	}
	return at
}

// waited reports whether a job of an attempt was queued under a label at some moment since an instant.
func (r *runs) waited(one githubsim.RunRecord, label string, since time.Time) bool {
	for _, j := range r.w.hub.Jobs() {
		if j.RunID != strconv.FormatInt(one.ID, 10) || j.RunAttempt != one.Attempt || !strings.EqualFold(j.Label, label) {
			continue
		}
		until := j.StartedAt
		if until.IsZero() {
			until = j.FinishedAt
		}
		if (stretch{j.QueuedAt, until}).touches(since) {
			return true
		}
	}
	return false
}

// most returns how many of the stretches there were at once, at some moment since an instant.
func most(all []stretch, since time.Time) int {
	n := 0
	for _, s := range all {
		at, here := later(s.from, since), 0
		for _, o := range all {
			if !o.from.After(at) && (o.to.IsZero() || o.to.After(at)) {
				here++
			}
		}
		n = max(n, here)
	}
	return n
}

// ours reports whether a run has, or had, a job with the label of a request.
func (r *runs) ours(a asked) bool {
	all, _, _ := r.attempts(a)
	return slices.ContainsFunc(all, func(one githubsim.RunRecord) bool {
		return slices.ContainsFunc(one.Jobs, func(j githubsim.RunJob) bool { return strings.EqualFold(j.Label, string(a.ID)) })
	})
}

// queuedSince returns since when jobs of the latest attempt wait for a runner of a request, and which attempt that is; zero: none
// does, or there is no such run.
func (r *runs) queuedSince(a asked) (at time.Time, attempt int) {
	all, _, ok := r.attempts(a)
	if !ok || len(all) == 0 {
		return time.Time{}, 0
	}
	last := all[len(all)-1]
	for _, j := range r.w.hub.Jobs() {
		if j.State == githubsim.Queued && j.RunID == strconv.FormatInt(last.ID, 10) && j.RunAttempt == last.Attempt && strings.EqualFold(j.Label, string(a.ID)) {
			if at.IsZero() || j.QueuedAt.Before(at) {
				at = j.QueuedAt
			}
		}
	}
	return at, last.Attempt
}

// wanted reports whether somebody wanted a job of a run to end as it did: it fails by itself, its run was
// cancelled, or the time of its request was over.
func (r *runs) wanted(j githubsim.JobRecord) bool {
	if fails(j.Job) {
		return true
	}
	id, err := strconv.ParseInt(j.RunID, 10, 64)
	if err != nil || j.RunAttempt == 0 {
		return false // it is of no run
	}
	if r.w.truth.facts.outlived(j) {
		return true
	}
	all, err := r.w.hub.Workflows().Attempts(id)
	return err == nil && j.RunAttempt <= len(all) && all[j.RunAttempt-1].Conclusion == githubapi.ConclusionCancelled
}
