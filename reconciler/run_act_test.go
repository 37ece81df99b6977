package reconciler_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// lateRuns are GitHub's runs with frozen lists. The read of a single run is current.
type lateRuns struct {
	*githubsim.Workflows

	mu      sync.Mutex
	frozen  bool
	active  []githubapi.WorkflowRun
	jobs    []githubapi.WorkflowJob
	acting  func()            // runs before a call that changes something, and once
	asking  func(call string) // runs before a read of one run or of its jobs
	refused error             // of such a call, in place of GitHub's answer
}

// freeze makes the lists stay as they are.
func (l *lateRuns) freeze(t *testing.T, run int64, attempt int) {
	t.Helper()
	active, err := l.Workflows.ActiveRuns(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := l.Workflows.WorkflowJobs(t.Context(), repository, run, attempt)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen, l.active, l.jobs = true, active, jobs
}

func (l *lateRuns) ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frozen {
		return l.active, nil
	}
	return l.Workflows.ActiveRuns(ctx, repository)
}

func (l *lateRuns) WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error) {
	l.ask("run")
	return l.Workflows.WorkflowRun(ctx, repository, id)
}

func (l *lateRuns) WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]githubapi.WorkflowJob, error) {
	l.ask("jobs")
	l.mu.Lock()
	frozen, jobs := l.frozen, l.jobs
	l.mu.Unlock()
	if frozen && attempt == 1 {
		return jobs, nil
	}
	return l.Workflows.WorkflowJobs(ctx, repository, id, attempt)
}

func (l *lateRuns) ask(call string) {
	l.mu.Lock()
	asking := l.asking
	l.mu.Unlock()
	if asking != nil {
		asking(call)
	}
}

func (l *lateRuns) CancelRun(ctx context.Context, repository string, id int64) error {
	l.mu.Lock()
	acting := l.acting
	l.acting = nil
	l.mu.Unlock()
	err := l.Workflows.CancelRun(ctx, repository, id)
	if acting != nil {
		acting()
		return l.refused
	}
	return err
}

// late is watching with lists that a test can freeze.
func late(t *testing.T, change func(*reconciler.Config), test func(t *testing.T, w *world, runs *lateRuns, another func())) {
	t.Helper()
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) {
			c.Watch.Serves = repository
			change(c)
		})
		runs := &lateRuns{Workflows: w.Hub.Workflows()}
		stop := w.controllerWith("c1", reconciler.Options{Runs: runs})
		test(t, w, runs, func() {
			stop()
			w.controllerWith("c2", reconciler.Options{Runs: runs})
		})
	})
}

func asConfigured(*reconciler.Config) {}

// canceled counts the calls that cancel a run.
func (w *world) canceled() int { return w.Hub.Calls()[githubsim.CallCancelRun] }

// half creates a request for two runners without a client. The fleet has one runner.
func (w *world) half(seconds float64, more ...githubsim.JobSpec) {
	w.t.Helper()
	w.Fleet.SetCapacity(fleet.Slot{}, 1)
	w.start(4711, append([]githubsim.JobSpec{labelled("a", "4711", seconds)}, more...)...)
	_, err := w.Store.Submit(w.t.Context(), spec("4711", 2, ofRun(4711, 1), within(3*time.Minute), func(r *store.RunRequest) { r.NoWait = true }))
	w.must(err)
}

// A request without a client fails because its second instance never came. Its jobs are over, and the run continues elsewhere, so the run
// is not canceled.
func TestRunAct_JobsAreOver_RunIsLeftAlone_Review_C1(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.half(20, githubsim.JobSpec{Key: "deploy", Hosted: true, Seconds: 600, Needs: []string{"a"}})
		w.awaitPhase("4711", 1, statemachine.Failed, 5*time.Minute)
		time.Sleep(2 * time.Minute)
		if got := w.status("4711").Watch; got.Cancel != "" || !strings.Contains(got.Detail, "left alone") {
			t.Errorf("cancel is %q, %q, want nothing, and why", got.Cancel, got.Detail)
		}
		w.await(15*time.Minute, "over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		if _, c := w.runStatus(4711); c != githubapi.ConclusionSuccess || w.canceled() != 0 {
			t.Errorf("run ended with %s after %d cancellations, want success after none", c, w.canceled())
		}
	})
}

// The same while the job runs on the one instance that came.
func TestRunAct_JobRuns_RunIsLeftAlone_Review_C1b(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.half(420)
		w.awaitPhase("4711", 1, statemachine.Failed, 5*time.Minute)
		w.await(15*time.Minute, "over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		if _, c := w.runStatus(4711); c != githubapi.ConclusionSuccess || w.canceled() != 0 {
			t.Errorf("run ended with %s after %d cancellations, want success after none", c, w.canceled())
		}
	})
}

// The lists are late: a user has canceled the run and run it again. The new attempt is left alone.
func TestRunAct_LateLists_NextAttemptIsLeftAlone_Review_C12(t *testing.T) {
	late(t, asConfigured, func(t *testing.T, w *world, runs *lateRuns, _ func()) {
		w.start(4711, labelled("a", "4711", 20))
		runs.freeze(t, 4711, 1)
		w.must(w.Hub.Workflows().Cancel(4711))
		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{}))
		_, err := w.Store.Submit(t.Context(), spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
		w.must(err)
		w.awaitPhase("4711", 1, statemachine.Failed, time.Minute)
		time.Sleep(5 * poll)
		if s, _ := w.runStatus(4711); s == githubapi.StatusCompleted || w.canceled() != 0 {
			t.Errorf("attempt 2 is %s after %d cancellations, want queued after none", s, w.canceled())
		}
		if got := w.status("4711").Watch.Cancel; got != "" {
			t.Errorf("cancel is %q, want nothing: nothing was done", got)
		}
	})
}

// The job stops waiting after the run was judged and read, and before its jobs are read: the run is left alone.
func TestRunAct_JobStopsWaitingMeanwhile_RunIsLeftAlone(t *testing.T) {
	late(t, asConfigured, func(t *testing.T, w *world, runs *lateRuns, _ func()) {
		w.start(4711, labelled("a", "4711", 300), githubsim.JobSpec{Key: "deploy", Hosted: true, Seconds: 600})
		var asked atomic.Int32
		runs.asking = func(call string) {
			if call != "jobs" {
				return
			}
			if asked.Add(1) == 2 {
				w.must(w.Hub.Cancel(strconv.FormatInt(w.jobOf(4711, "a").ID, 10)))
			}
		}
		_, err := w.Store.Submit(t.Context(), spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
		w.must(err)
		w.await(5*poll, "asked twice", func() bool { return asked.Load() > 1 })
		w.await(15*time.Minute, "over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		if w.canceled() != 0 || w.jobOf(4711, "deploy").Conclusion != githubapi.ConclusionSuccess {
			t.Errorf("%d cancellations, deploy ended with %s, want none, success", w.canceled(), w.jobOf(4711, "deploy").Conclusion)
		}
	})
}

// Late lists show attempt 1, whose lost jobs must run again. A user has begun attempt 2, which failed without a lost job. Attempt 2 is not
// run again.
func TestRunAct_LateLists_NextAttemptIsNotRunAgain_Review_S6(t *testing.T) {
	takesLong(t)
	late(t, func(c *reconciler.Config) { c.Watch.RerunLost = true }, func(t *testing.T, w *world, runs *lateRuns, _ func()) {
		w.losing(1, 1, 0)
		var again atomic.Bool
		runs.asking = func(call string) { // the run is judged by what is read now, and the user is quicker than the act
			if r, err := w.Hub.Workflows().Run(4711); call == "jobs" && !again.Load() && err == nil && r.Status == githubapi.StatusCompleted && w.status("4711").Phase == statemachine.PhaseReleased {
				again.Store(true)
				w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{Failed: true}))
				w.must(w.Hub.Workflows().Cancel(4711))
			}
		}
		w.await(20*time.Minute, "a user runs it again", func() bool { return again.Load() })
		time.Sleep(10 * poll)
		if n := w.reruns(); n != 0 {
			t.Errorf("%d calls to run something again, want none: attempt 2 was not judged", n)
		}
	})
}

// The leader ends between the cancellation and its record: the next one does not say that nothing was done.
func TestRunAct_LeaderEndsAfterCancel_Recorded_Review_C11b(t *testing.T) {
	late(t, asConfigured, func(t *testing.T, w *world, runs *lateRuns, another func()) {
		w.start(4711, labelled("a", "4711", 20))
		var called atomic.Bool
		runs.acting, runs.refused = func() { called.Store(true) }, githubapi.ErrUnavailable // the answer is lost, and its leader ends
		_, err := w.Store.Submit(t.Context(), spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
		w.must(err)
		w.await(time.Minute, "canceled", func() bool { return called.Load() })
		another()
		w.await(2*poll, "recorded", func() bool {
			c := w.status("4711").Watch.Cancel
			return c == store.Done || c == store.NotDone
		})
		if got := w.status("4711").Watch; got.Cancel != store.Done || strings.Contains(got.Detail, "over before") {
			t.Errorf("cancel is %q, %q, want done", got.Cancel, got.Detail)
		}
		if n := len(w.Hub.Workflows().CheckRuns()); n != 1 {
			t.Errorf("%d check runs, want one that says why", n)
		}
	})
}
