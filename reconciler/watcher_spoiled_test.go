package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// Any workflow's role may write any request. One that cannot be read, whose run is over, stops nobody else's being watched.
func TestWatcher_UnreadableRequest_StopsNoOther(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.Waive(sim.Freed)
		w.start(4711, provision(), labelled("test", "4711", 30, "provision"))
		w.start(4712, provision(), labelled("test", "4712", 300, "provision"))
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		w.serve(spec("4712", 1, ofRun(4712, 1)), 2*time.Minute)
		w.Under.(*storetest.Memory).Break(store.RequestKey("4711", store.KindRunRequest))
		w.finish(4711)
		w.finish(4712)
		w.await(10*time.Minute, "the other is over", func() bool { s, _ := w.runStatus(4712); return s == githubapi.StatusCompleted })
		w.await(poll, "the other is given back", func() bool { return w.requestOf("4712").Released() })
	})
}

// GitHub does not answer for the jobs of one run, for as long as that takes: the lists are read as often as ever for the others.
func TestWatcher_OneRunCannotBeShown_DelaysNoOther(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		deploy := labelled("deploy", "4711", 30, "provision")
		deploy.Approval = true
		w.start(4711, provision(), deploy)
		w.start(4712, provision(), labelled("test", "4712", 120, "provision"))
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		w.serve(spec("4712", 1, ofRun(4712, 1)), 2*time.Minute)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallRunJobs}})
		w.finish(4711)
		w.finish(4712)
		w.await(10*time.Minute, "the other is over", func() bool { s, _ := w.runStatus(4712); return s == githubapi.StatusCompleted })
		w.await(2*poll, "the other is given back", func() bool { return w.requestOf("4712").Released() })
		w.Hub.SetOutage(githubsim.Outage{})
		w.must(w.Hub.Workflows().Cancel(4711))
		w.await(2*poll, "given back", func() bool { return w.requestOf("4711").Released() })
	})
}

// Two approvals, and a job between them: the five minutes without a job are counted anew at the second.
func TestWatcher_WaitsTwice_QuietIsCountedAnew(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		staging, production := labelled("staging", "4711", 600, "provision"), labelled("production", "4711", 30, "staging")
		staging.Approval, production.Approval = true, true
		w.start(4711, provision(), staging, production)
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.await(time.Minute, "it waits", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusWaiting })
		time.Sleep(time.Minute)
		w.must(w.Hub.Workflows().Approve(4711))
		w.await(time.Minute, "it goes on", func() bool { s, _ := w.runStatus(4711); return s != githubapi.StatusWaiting })
		w.await(15*time.Minute, "it waits again", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusWaiting })
		time.Sleep(4 * time.Minute)
		if w.requestOf("4711").Released() {
			t.Fatal("given back within four minutes of waiting again")
		}
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, 3*time.Minute)
	})
}

// A request failed for which nobody waits, and its run was over before anything was done about that: this is said, and GitHub is not
// asked for that run for as long as it is remembered.
func TestWatcher_FailedAndOver_AskedForNoLonger(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, labelled("other", "somewhere", 3600))
		w.submit(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
		w.awaitPhase("4711", 1, statemachine.Failed, time.Minute)
		w.must(w.Hub.Workflows().Cancel(4711))
		w.await(2*poll, "said", func() bool { return w.status("4711").Watch.Cancel == store.NotDone })
		before := w.Hub.Calls()[githubsim.CallRun]
		time.Sleep(time.Hour)
		if n := w.Hub.Calls()[githubsim.CallRun] - before; n > 1 {
			t.Errorf("asked for the run %d times since, want once at most", n)
		}
	})
}

// A run that was cancelled is run again before the controller sees it cancelled: a job of the next attempt that a runner of the
// first has taken by then is not cut off.
func TestWatcher_RunCancelledAndRunAgain_ItsJobGoesOn(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("test", "4711", 100, "provision"))
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		w.must(w.Hub.Workflows().SetView(githubsim.View{Lag: 2 * poll}))
		w.must(w.Hub.Workflows().Cancel(4711))
		time.Sleep(poll)
		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{}))
		w.finish(4711)
		w.await(poll, "the job runs", func() bool { return w.jobOf(4711, "test").Status == githubapi.StatusInProgress })

		w.await(4*poll, "given back", func() bool { return w.requestOf("4711").Release == store.ReleaseNow })
		w.await(5*time.Minute, "the run is over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		if _, conclusion := w.runStatus(4711); conclusion != githubapi.ConclusionSuccess {
			t.Errorf("the run is a %s, want a success", conclusion)
		}
		w.await(5*time.Minute, "pooled", func() bool { return w.pooled() == 1 })
	})
}

// GitHub takes no check run, for as long as that may be: the run whose request failed is cancelled all the same, and the check run is
// left once GitHub takes it.
func TestWatcher_NoCheckRunIsTaken_CancelledAllTheSame(t *testing.T) {
	takesLong(t)
	for name, tt := range map[string]struct {
		out  time.Duration
		left int
	}{"Minutes": {5 * time.Minute, 1}, "Hours": {2 * time.Hour, 0}} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, w *world) {
				w.start(4711, labelled("test", "4711", 30))
				w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallLeaveCheckRun}})
				w.submit(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
				w.await(2*poll, "cancelled", func() bool { _, c := w.runStatus(4711); return c == githubapi.ConclusionCancelled })
				w.await(poll, "said", func() bool { return w.status("4711").Watch.Cancel == store.Done })
				time.Sleep(tt.out)
				w.Hub.SetOutage(githubsim.Outage{})
				before := w.Hub.Calls()[githubsim.CallLeaveCheckRun]
				time.Sleep(5 * poll)
				if n := len(w.Hub.Workflows().CheckRuns()); n != tt.left {
					t.Errorf("%d check runs, want %d", n, tt.left)
				}
				if n := w.Hub.Calls()[githubsim.CallLeaveCheckRun] - before; n != tt.left {
					t.Errorf("GitHub was asked %d times more to take one, want %d", n, tt.left)
				}
			})
		})
	}
}

// A request names an attempt that its run, which is over, never had: it does not hold machines for as long as a run may take.
func TestWatcher_NoSuchAttempt_GivenBackInTheEnd(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision())
		w.finish(4711)
		w.serve(spec("4711", 1, ofRun(4711, 3)), 2*time.Minute)
		time.Sleep(20 * time.Minute)
		if w.requestOf("4711").Released() {
			t.Fatal("given back within 20 minutes, while GitHub's view may be late")
		}
		w.awaitPhase("4711", 3, statemachine.PhaseReleased, 15*time.Minute)
	})
}
