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
