package sim

import (
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// Harmless is the law that the controller acts on a run as it is at GitHub, and not on an old list of runs.
const Harmless = "a healthy run is left alone"

// raceFor is the allowed age of the last read of a run when the controller acts on the run and nothing is out of order. GitHub has no
// conditional call. A write of the table and two ways to GitHub lie between the read and the call.
const raceFor = 10 * time.Second

// actLaws hold each call that changes a run to the run as it is at GitHub at that moment.
type actLaws struct {
	w    *World
	runs *runLaws

	mu    sync.Mutex
	views []shownLate
}

// shownLate is a period of a late view of runs.
type shownLate struct {
	from, to time.Duration
	by       time.Duration
	lists    bool // only lists of runs and jobs: one run alone is shown as it is
}

func newActLaws(w *World, r *runLaws) *actLaws { return &actLaws{w: w, runs: r} }

// shows notes that GitHub shows runs late for so long.
func (l *actLaws) shows(v githubView) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.w.since()
	l.views = append(l.views, shownLate{now, now + v.For, v.Lag + v.Frozen, v.Lists})
}

// since returns the earliest instant of a read that may justify an act: a read of one run, or a list of its jobs.
func (l *actLaws) since(list bool) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	race, late := raceFor, time.Duration(0)
	if l.w.disturbances.calmSince() > l.w.since()-raceFor-longestHang {
		race = longestHang + l.w.o.paced(2*time.Minute) // a process was paused, or a call hangs
	}
	for _, v := range l.views {
		if now := l.w.since(); v.from <= now && now-race <= v.to && (list || !v.lists) {
			late = max(late, v.by)
		}
	}
	return l.w.clock.Now().Add(-race - late)
}

// cancels: a run is canceled only if its latest attempt is the one whose request failed, and one of its jobs is queued under the
// label of that request.
func (l *actLaws) cancels(run githubsim.RunRecord) {
	if run.Status == githubapi.StatusCompleted {
		return // nothing comes of it
	}
	failed, latest, waits := false, false, false
	l.runs.any(run, func(a asked) bool {
		if !a.NoWait || !l.runs.failed[a.ID][a.Attempt] {
			return false
		}
		failed = true
		all, named, _ := l.runs.facts.runs.attempts(a)
		if len(all) == named || len(all) > named && all[named].StartedAt.After(l.since(false)) {
			latest = true
			waits = waits || l.runs.facts.runs.waited(all[named-1], string(a.ID), l.since(true))
		}
		return false // perhaps another one does
	})
	switch {
	case !failed: // another law says so
	case !latest:
		l.w.verdicts.broke(Harmless, "run %d is canceled in attempt %d, and the request that failed was for an earlier one", run.ID, run.Attempt)
	case !waits:
		l.w.verdicts.broke(Harmless, "run %d is canceled, and no job of it waits for the request that failed", run.ID)
	}
}

// reruns: a run is run again only in an attempt that is over since the controller judged it, and only for jobs that it has lost.
func (l *actLaws) reruns(was githubsim.RunRecord) {
	if was.Attempt > 1 && was.StartedAt.After(l.since(false)) {
		return
	}
	for _, j := range was.Jobs {
		died := l.w.machines.diedAt(j.InstanceID)
		if !j.StartedAt.IsZero() && !died.IsZero() && !died.Before(j.StartedAt) && !died.After(j.FinishedAt) {
			return
		}
	}
	l.w.verdicts.broke(Harmless, "run %d is run again by the controller, and no job of attempt %d was lost with its instance", was.ID, was.Attempt)
}
