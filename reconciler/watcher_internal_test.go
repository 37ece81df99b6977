package reconciler

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// momentClock does something once, when the time is next read.
type momentClock struct {
	*clocktesting.FakeClock
	meanwhile func()
}

func (c *momentClock) Now() time.Time {
	if once := c.meanwhile; once != nil {
		c.meanwhile = nil
		once()
	}
	return c.FakeClock.Now()
}

// watched is a request for a run of octo/repo.
func watched(id int64, change ...func(*store.RunRequest)) *store.RunRequest {
	r := &store.RunRequest{
		ID: store.RequestID(strconv.FormatInt(id, 10)), Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"},
		ResourceClass: "small", Timeout: 60, Repository: "octo/repo", WorkflowRun: id, WorkflowAttempt: 1, Version: 1,
	}
	for _, c := range change {
		c(r)
	}
	return r
}

// newTestWatcher returns the watcher of a term that has no GitHub.
func newTestWatcher(term *manager) *watcher {
	t := *term.tenure
	statuses := term.requests.statuses
	checks := &checkRuns{tenure: &t}
	return &watcher{tenure: &t, cache: term.cache, statuses: statuses, checks: checks, lost: &lostJobs{tenure: &t, cache: term.cache, statuses: statuses, checks: checks}}
}

// A request is accepted while the last read of its repository ends, and finds it watched: it is not forgotten until the next scan.
func TestWatcher_RequestComesAsTheLastReadEnds_Review_S1(t *testing.T) {
	term, clk, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
	requests, w := term.cache.requests, newTestWatcher(term)
	old := &store.RunStatus{ID: "1", Attempt: 1, Phase: statemachine.PhaseReleased, ChangedAt: store.At(dawn.Add(-48 * time.Hour)), Version: 1}
	requests.applyRun("1", store.RunRecords{Request: watched(1), Status: old}, dawn)
	requests.setWatch("octo/repo", store.Watched, "")
	moment := &momentClock{FakeClock: clk, meanwhile: func() {
		requests.applyRun("2", store.RunRecords{Request: watched(2)}, dawn)
		if got := requests.watchOf("octo/repo").State; got != store.Watched {
			t.Errorf("accept finds state %q, want %q", got, store.Watched)
		}
	}}
	w.tenure.clock = moment
	res, err := w.pass(t.Context(), w.known.get("octo/repo"))
	if err != nil || res.After == 0 {
		t.Errorf("pass = %+v, %v, want another read: request 2 waits for it", res, err)
	}
}

// Any workflow may name a repository. A repository that no request names any more is dropped, with its unsent check runs.
func TestRequests_RepositoriesAreForgotten_Review_S11(t *testing.T) {
	term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
	requests, w := term.cache.requests, newTestWatcher(term)
	for i := range 1000 {
		requests.applyRun("1", store.RunRecords{Request: watched(1, func(r *store.RunRequest) {
			r.Repository, r.Version = "octo/r"+strconv.Itoa(i), int64(i+1)
		})}, dawn)
	}
	if n := len(requests.repositories); n != 1 {
		t.Errorf("%d repositories are kept, want the one that a request names", n)
	}
	for i := range 1000 {
		name := "octo/w" + strconv.Itoa(i)
		requests.setWatch(name, store.Watched, "")
		w.checks.mu.Lock()
		w.checks.unsaid = map[string]checkRun{name + " k": {repository: name}}
		w.checks.mu.Unlock()
		if _, err := w.pass(t.Context(), w.known.get(name)); err != nil {
			t.Fatal(err)
		}
	}
	if n, unsaid, known := len(requests.repositories), len(w.checks.unsaid), len(w.known.byName); n != 1 || unsaid != 0 || known != 0 {
		t.Errorf("%d repositories, %d check runs and %d lists are kept, want 1, 0, 0", n, unsaid, known)
	}
}

// A request that was asked for again has failed, and GitHub refuses to cancel its run. The run continues, and no read logs anything.
func TestWatcher_AskedAgainAndFailed_LogsNothing_Review_S7(t *testing.T) {
	table := storetest.NewMemory(clocktesting.NewFakeClock(dawn))
	term, _, _ := newTestTerm(t, table, nil)
	var log bytes.Buffer
	w := newTestWatcher(term)
	w.tenure.log = slog.New(slog.NewTextHandler(&log, nil))
	request := watched(1, func(r *store.RunRequest) {
		r.NoWait, r.OriginalCount, r.Attempt, r.ReleasedAttempt, r.ReleaseReason, r.Version = true, 1, 2, 1, store.RunWaits, 0
	})
	stored, err := term.cache.store.Submit(context.Background(), *request)
	if err != nil {
		t.Fatal(err)
	}
	st := &store.RunStatus{
		ID: "1", Attempt: stored.Attempt, Phase: statemachine.Failed, FailedAt: store.At(dawn), ChangedAt: store.At(dawn), Version: 1,
		Watch: store.Watch{State: store.Watched, Cancel: store.NotDone, Detail: "its run could not be canceled: no"},
	}
	term.cache.requests.applyRun("1", store.RunRecords{Request: &stored, Status: st}, dawn)
	r, _ := term.cache.requests.getRun("1")
	view := githubapi.WorkflowRun{ID: 1, Attempt: 1, Status: githubapi.StatusQueued}
	jobs := &runJobs{repository: "octo/repo", view: view, asked: true, jobs: []githubapi.WorkflowJob{{ID: 7, Status: githubapi.StatusQueued, Labels: []string{"1"}}}}
	for range 3 {
		if err := w.serve(context.Background(), w.known.get("octo/repo"), r, view, false, jobs); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(log.String(), "asking again") {
		t.Errorf("logged without a write: %s", log.String())
	}
}
