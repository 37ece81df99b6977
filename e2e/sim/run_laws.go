package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws on what the controller does for runs at GitHub, in place of clients.
const (
	Over    = "the controller gives back only what is over at GitHub"
	Wanted  = "the controller asks only for what waits at GitHub"
	RunOnce = "no job is run twice by the controller"
	OwnRuns = "the controller touches only runs of its requests' jobs"
	OneNote = "one check run for each subject"
	Follows = "what becomes of a run at GitHub is followed soon"
)

// followedWithin is how long the controller may take to follow what became of a run, at pace 1: some looks at its repository.
const followedWithin = 2 * time.Minute

// runLaws hold what the controller does for runs to GitHub as it is. What the controller has seen of it may be late, and what it does
// then may take its time.
type runLaws struct {
	w       *World
	records *records
	facts   *facts

	failed map[store.RequestID]map[int]bool // attempts that were answered with no
	reran  map[int64]int                    // how often the controller had a run run again
}

func newRunLaws(w *World, r *records, f *facts) *runLaws {
	return &runLaws{w: w, records: r, facts: f, failed: map[store.RequestID]map[int]bool{}, reran: map[int64]int{}}
}

// seen returns since when something must have been so that the controller has seen, at the latest, and acts upon now: a process may
// be paused, and a call may hang, between its look and its deed.
func (l *runLaws) seen() time.Time {
	return l.w.clock.Now().Add(-latest - longestHang - l.w.o.paced(2*time.Minute))
}

// asked: in place of a client the controller asks for no more than wait or run, nor than a client did.
func (l *runLaws) asked(was asked, now store.RunRequest) {
	if !now.ByController() || now.Attempt == was.Attempt && now.Count <= was.Count {
		return
	}
	a := asked{RunRequest: now}
	var waited int
	if all, named, ok := l.facts.runs.attempts(a); ok && named <= len(all) {
		mine, _ := l.facts.runs.busy(all[named-1], string(now.ID))
		waited = most(mine, l.seen())
	}
	if now.Count > waited {
		l.w.verdicts.broke(Wanted, "request %s/%d asks for %d in place of a client, and at most %d jobs wait or run in attempt %d of its run",
			now.ID, now.Attempt, now.Count, waited, now.WorkflowAttempt)
	}
	if asked := l.byClients(now.ID); now.Count > asked {
		l.w.verdicts.broke(Wanted, "request %s/%d asks for %d in place of a client, which asked for %d", now.ID, now.Attempt, now.Count, asked)
	}
	if !now.ExpiresAt.IsZero() && !now.Released() {
		l.w.verdicts.broke(Wanted, "request %s/%d, in place of a client, is forgotten at %s", now.ID, now.Attempt, now.ExpiresAt.Sub(l.w.begin))
	}
}

// byClients is the most that a client has asked for under an id.
func (l *runLaws) byClients(id store.RequestID) int {
	n := 0
	for _, a := range l.records.requests[id] {
		if !a.ByController() {
			n = max(n, a.Count)
		}
	}
	return n
}

// givenBack: the controller gives back what is over, or has waited for an approval for long.
func (l *runLaws) givenBack(was asked, now store.RunRequest) {
	if now.ReleaseReason == "" || now.ReleasedAttempt == was.ReleasedAttempt {
		return
	}
	a := l.records.requests[now.ID][now.ReleasedAttempt]
	waited := now.ReleaseReason == store.RunWaits && slices.ContainsFunc(l.facts.runs.waits(a), func(s stretch) bool { return s.touches(l.seen()) })
	stuck := l.facts.runs.stuck(a)
	nothing := now.ReleaseReason == store.RunStuck && !stuck.IsZero() && l.w.clock.Since(stuck) >= l.w.supervisor.config().Limits.Idle
	if l.facts.runs.ended(a).IsZero() && !waited && !nothing {
		l.w.verdicts.broke(Over, "request %s/%d is given back as %s, and its run goes on", now.ID, now.ReleasedAttempt, now.ReleaseReason)
	}
	if all, named, _ := l.facts.runs.attempts(a); now.Release == store.ReleaseNow && (named < 1 || named > len(all) || all[named-1].Conclusion != githubapi.ConclusionCancelled) {
		l.w.verdicts.broke(Over, "request %s/%d ends now, and nobody has cancelled its run", now.ID, now.ReleasedAttempt)
	}
}

// answered notes which attempts were answered with no.
func (l *runLaws) answered(_, st store.RunStatus) {
	if st.Phase == statemachine.Failed {
		in(l.failed, st.ID)[st.Attempt] = true
	}
}

// cancels: a run is canceled only for a failed request of its jobs that no client waits for, and only while one of these jobs is queued. A
// running or completed job proves that the run is the request's. It does not prove that a job waits.
func (l *runLaws) cancels(run githubsim.RunRecord) {
	if run.Status == githubapi.StatusCompleted {
		return // nothing comes of it
	}
	waits := false
	if !l.any(run, func(a asked) bool {
		if !a.NoWait || !l.failed[a.ID][a.Attempt] {
			return false
		}
		all, named, _ := l.facts.runs.attempts(a)
		judged := len(all) == named || len(all) > named && all[named].StartedAt.After(l.seen())
		waits = waits || judged && l.facts.runs.waited(all[len(all)-1], string(a.ID), l.seen())
		return judged
	}) {
		l.w.verdicts.broke(OwnRuns, "run %d is cancelled, and no request of its jobs has failed for which nobody waits", run.ID)
	} else if !waits {
		l.w.verdicts.broke(OwnRuns, "run %d is cancelled, and no job of a request that failed waits", run.ID)
	}
}

// any reports whether a request for a run, one of whose jobs has its label, is so in any of its attempts.
func (l *runLaws) any(run githubsim.RunRecord, so func(asked) bool) bool {
	l.records.mu.Lock()
	defer l.records.mu.Unlock()
	for _, attempts := range l.records.requests {
		for _, a := range attempts {
			if named, ok := a.Workflow(); ok && named.Run == run.ID && l.facts.runs.ours(a) && so(a) {
				return true
			}
		}
	}
	return false
}

// notes: a check run is left only for a run of our own.
func (l *runLaws) notes(repository string, c githubapi.CheckRun) {
	for _, run := range l.w.hub.Workflows().List() {
		if strings.EqualFold(run.Repository, repository) && run.HeadSHA == c.HeadSHA && l.any(run, func(asked) bool { return true }) {
			return
		}
	}
	l.w.verdicts.broke(OwnRuns, "check run %s is left for a run none of whose jobs has the label of a request", c.Key)
}

// reruns: what the controller has run again was lost with its machine, and is run again once. With it GitHub runs again what was
// cancelled, as other legs of the same matrix are, and what needs others.
func (l *runLaws) reruns(was, now githubsim.RunRecord) {
	l.records.mu.Lock()
	l.reran[was.ID]++
	times := l.reran[was.ID]
	l.records.mu.Unlock()
	if times > 1 {
		l.w.verdicts.broke(RunOnce, "run %d is run again by the controller for the %dth time", was.ID, times)
	}
	for _, j := range was.Jobs {
		carried := slices.ContainsFunc(now.Jobs, func(o githubsim.RunJob) bool {
			return o.Name == j.Name && o.StartedAt.Equal(j.StartedAt) && o.FinishedAt.Equal(j.FinishedAt)
		})
		if died := l.w.machines.diedAt(j.InstanceID); carried || j.StartedAt.IsZero() || j.Conclusion == githubapi.ConclusionCancelled || l.w.workflows.needsOthers(was.ID, j.Key) ||
			!died.IsZero() && !died.Before(j.StartedAt) && !died.After(j.FinishedAt) {
			continue
		}
		l.w.verdicts.broke(RunOnce, "job %s of run %d is run again by the controller: it ended with %s on %s, which lived", j.Name, was.ID, j.Conclusion, j.InstanceID)
	}
}

// followed holds a request to what its run has come to.
func (l *runLaws) followed(id store.RequestID) {
	r, st := l.records.latest(id), l.records.status[id]
	if l.w.refusals.suffers(id) {
		return
	}
	alive := !r.Released() && st.Attempt == r.Attempt && (st.Phase == statemachine.Pending || st.Phase == statemachine.Ready)
	if at := l.facts.runs.ended(r); alive && !at.IsZero() && l.late(later(at, r.first)) {
		l.w.verdicts.once(Follows, "back "+string(id), "request %s/%d is %s, and its run is over since %s", id, r.Attempt, st.Phase, l.w.clock.Since(at))
	}
	at, attempt := l.facts.runs.queuedSince(r)
	if at.IsZero() || l.w.clock.Since(st.ChangedAt.Time) > l.w.supervisor.config().Watch.Remember || st.Attempt < r.Attempt {
		return
	}
	goesOn := r.WorkflowAttempt == attempt && (r.ReleaseReason == store.RunWaits || r.ReleaseReason == store.RunStuck) && r.Released()
	if (r.WorkflowAttempt < attempt || goesOn) && l.late(later(at, st.ChangedAt.Time)) {
		l.w.verdicts.once(Follows, "asked "+string(id), "request %s/%d is not asked for again, and a job of attempt %d of its run waits since %s",
			id, r.Attempt, attempt, l.w.clock.Since(at))
	}
}

// late reports whether something of GitHub that has been so since an instant is not followed though nothing kept that. Without leave
// to look the controller asks again after ten minutes only.
func (l *runLaws) late(since time.Time) bool {
	since = later(since, l.w.begin.Add(l.w.outages.blindUntil()))
	return l.w.disturbances.late(since.Add(latest), followedWithin)
}

// noted: nothing is said twice beside a commit.
func (l *runLaws) noted() {
	told := map[githubsim.CheckRunRecord]int{}
	for _, c := range l.w.hub.Workflows().CheckRuns() {
		key := githubsim.CheckRunRecord{HeadSHA: c.HeadSHA, Name: c.Name, ExternalID: c.ExternalID}
		if told[key]++; told[key] == 2 {
			l.w.verdicts.broke(OneNote, "check run %s of %s is left twice", c.ExternalID, c.HeadSHA)
		}
	}
}
