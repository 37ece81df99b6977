package reconciler_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// repository is the hub's own.
const repository = "octo/repo"

// watching is led with a controller that watches the hub's runs.
func watching(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves = repository })
		w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		test(t, w)
	})
}

// poll is how late the watcher may see something: its interval, off by a tenth, and what follows.
const poll = 20 * time.Second

// ofRun says which run and attempt a request is for.
func ofRun(id int64, attempt int) func(*store.RunRequest) {
	return func(r *store.RunRequest) {
		r.Attempt, r.Repository, r.WorkflowRun, r.WorkflowAttempt = attempt, repository, id, attempt
	}
}

// start starts a run.
func (w *world) start(id int64, jobs ...githubsim.JobSpec) {
	w.t.Helper()
	if _, err := w.Hub.Workflows().Start(githubsim.RunSpec{ID: id, Jobs: jobs}); err != nil {
		w.t.Fatal(err)
	}
}

// provision is the job that asks; others need it.
func provision() githubsim.JobSpec {
	return githubsim.JobSpec{Key: "provision", Hosted: true, Held: true}
}

// labelled is a job for the runners of a request.
func labelled(key, label string, seconds float64, needs ...string) githubsim.JobSpec {
	return githubsim.JobSpec{Key: key, Label: label, Seconds: seconds, Needs: needs}
}

// finish ends the job that asks.
func (w *world) finish(id int64) {
	w.t.Helper()
	w.must(w.Hub.Workflows().Finish(w.jobOf(id, "provision").ID, githubsim.Success))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// jobOf returns a job of a run's latest attempt.
func (w *world) jobOf(id int64, key string) githubsim.RunJob {
	w.t.Helper()
	r, err := w.Hub.Workflows().Run(id)
	w.must(err)
	for _, j := range r.Jobs {
		if j.Key == key {
			return j
		}
	}
	w.t.Fatalf("run %d has no job %s", id, key)
	return githubsim.RunJob{}
}

func (w *world) runStatus(id int64) (status, conclusion string) {
	w.t.Helper()
	r, err := w.Hub.Workflows().Run(id)
	w.must(err)
	return r.Status, r.Conclusion
}

// requestOf returns the record of a request.
func (w *world) requestOf(id string) store.RunRequest {
	w.t.Helper()
	r, err := w.Store.Request(w.t.Context(), store.Consistent, store.RequestID(id))
	w.must(err)
	return r
}

// A run that ends without a release job gives its machines back within a poll, and they serve the next.
func TestWatcher_RunEnds_GivenBack(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("test", "4711", 30, "provision"))
		st := w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		if st.Watch.State != store.Watched {
			t.Errorf("watch state %q, want %q", st.Watch.State, store.Watched)
		}
		w.finish(4711)
		w.await(2*time.Minute, "the run is over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		w.await(poll, "given back", func() bool { return w.requestOf("4711").Released() })
		st = w.awaitPhase("4711", 1, statemachine.PhaseReleased, time.Minute)
		if st.Reason != reconciler.ReasonRunOver {
			t.Errorf("reason %q, want %q", st.Reason, reconciler.ReasonRunOver)
		}
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		w.launched(1)
	})
}

// A run that is cancelled, in whatever state its request is, frees what it holds at once.
func TestWatcher_RunCancelled_FreedNow(t *testing.T) {
	for name, until := range map[string]func(w *world){
		"Pending": func(w *world) {
			w.Boot = time.Minute
			w.submit(spec("4711", 2, ofRun(4711, 1)))
			w.awaitPhase("4711", 1, statemachine.Pending, time.Minute)
		},
		"Ready": func(w *world) { w.serve(spec("4711", 2, ofRun(4711, 1)), 2*time.Minute) },
		"JobRuns": func(w *world) {
			w.serve(spec("4711", 2, ofRun(4711, 1)), 2*time.Minute)
			w.finish(4711)
			w.await(time.Minute, "the job runs", func() bool { return w.jobOf(4711, "test").Status == githubapi.StatusInProgress })
			w.Cut(strconv.FormatInt(w.jobOf(4711, "test").ID, 10))
		},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, w *world) {
				w.start(4711, provision(), labelled("test", "4711", 3600, "provision"))
				until(w)
				w.must(w.Hub.Workflows().Cancel(4711))
				w.await(2*poll, "given back", func() bool { return w.requestOf("4711").Released() })
				if got := w.requestOf("4711"); got.Release != store.ReleaseNow || got.ReleaseReason != store.RunOver {
					t.Errorf("given back %q for %q, want now for run_over", got.Release, got.ReleaseReason)
				}
				w.awaitPhase("4711", 1, statemachine.PhaseReleased, 2*time.Minute)
			})
		})
	}
}

// "Re-run failed jobs" of a run that gave its machines back: the controller itself asks for as many as wait, warm if the pool has them.
func TestWatcher_RunAgain_AsksForAsManyAsWait(t *testing.T) {
	takesLong(t)
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("a", "4711", 30, "provision"), labelled("b", "4711", 30, "provision"), labelled("c", "4711", 30, "b"))
		w.serve(spec("4711", 2, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, 5*time.Minute)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		time.Sleep(time.Hour)
		w.warm("99", 1) // the pool has a machine

		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{Job: w.jobOf(4711, "b").ID}))
		w.await(poll, "asked again", func() bool { return w.requestOf("4711").Attempt == 2 })
		r := w.requestOf("4711")
		if r.Count != 1 || r.OriginalCount != 2 || !r.NoWait || r.WorkflowAttempt != 2 {
			t.Errorf("asked for %d of %d, noWait %v, run attempt %d; want 1 of 2, true, 2", r.Count, r.OriginalCount, r.NoWait, r.WorkflowAttempt)
		}
		st := w.awaitPhase("4711", 2, statemachine.Ready, time.Minute)
		if len(st.Instances) != 1 || !st.Instances[0].Warm {
			t.Errorf("seats %+v, want a warm one", st.Instances)
		}
		w.awaitPhase("4711", 2, statemachine.PhaseReleased, 5*time.Minute)
		if s, c := w.runStatus(4711); s != githubapi.StatusCompleted || c != githubapi.ConclusionSuccess {
			t.Errorf("run is %s, %s, want completed, success", s, c)
		}
	})
}

// More jobs come to wait while the run goes on: more runners are asked for, never more than its client did.
func TestWatcher_RunAgain_GrowsWithWhatWaits(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		jobs := []githubsim.JobSpec{provision(), labelled("first", "4711", 30, "provision")}
		for i := range 10 {
			jobs = append(jobs, labelled("then"+strconv.Itoa(i), "4711", 60, "first"))
		}
		w.start(4711, jobs...)
		w.serve(spec("4711", 6, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, 10*time.Minute)

		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{Job: w.jobOf(4711, "first").ID}))
		st := w.awaitPhase("4711", 2, statemachine.Ready, 2*time.Minute)
		if len(st.Instances) != 1 {
			t.Errorf("%d seats for the first job, want 1", len(st.Instances))
		}
		w.await(3*time.Minute, "six seats", func() bool { return len(w.status("4711").Instances) == 6 })
		st = w.awaitPhase("4711", 2, statemachine.PhaseReleased, 10*time.Minute)
		if _, c := w.runStatus(4711); c != githubapi.ConclusionSuccess {
			t.Errorf("run ended with %s, want success", c)
		}
		w.launched(6)
	})
}

// A run that waits for an approval gives its machines back after five minutes, and gets others when it goes on.
func TestWatcher_WaitsForApproval_GivenBackAndServedAgain(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		deploy := labelled("deploy", "4711", 30, "test")
		deploy.Approval = true
		w.start(4711, provision(), labelled("test", "4711", 30, "provision"), deploy)
		w.serve(spec("4711", 2, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.await(2*time.Minute, "it waits", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusWaiting })
		time.Sleep(4 * time.Minute)
		if w.requestOf("4711").Released() {
			t.Fatal("given back within four minutes of waiting")
		}
		st := w.awaitPhase("4711", 1, statemachine.PhaseReleased, 3*time.Minute)
		if st.Reason != reconciler.ReasonRunWaits {
			t.Errorf("reason %q, want %q", st.Reason, reconciler.ReasonRunWaits)
		}
		time.Sleep(5 * time.Minute)
		w.must(w.Hub.Workflows().Approve(4711))
		st = w.awaitPhase("4711", 2, statemachine.Ready, time.Minute)
		if r := w.requestOf("4711"); len(st.Instances) != 1 || r.WorkflowAttempt != 1 || r.OriginalCount != 2 {
			t.Errorf("%d seats for run attempt %d of %d, want 1 for 1 of 2", len(st.Instances), r.WorkflowAttempt, r.OriginalCount)
		}
		w.awaitPhase("4711", 2, statemachine.PhaseReleased, 3*time.Minute)
	})
}

// "Re-run all jobs": jobs that need nothing wait at once, and the controller asks before the client does, or after it. The client's
// spec wins, and nothing that is held is lost.
func TestWatcher_ClientTakesOver(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("early", "4711", 120), labelled("test", "4711", 30, "provision"))
		w.serve(spec("4711", 3, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, 5*time.Minute)

		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{}))
		st := w.awaitPhase("4711", 2, statemachine.Ready, time.Minute)
		held := ids(st)
		if len(held) != 1 || w.requestOf("4711").OriginalCount != 3 {
			t.Fatalf("%d seats, original count %d; want 1, 3", len(held), w.requestOf("4711").OriginalCount)
		}
		w.submit(spec("4711", 3, ofRun(4711, 2)))
		w.await(time.Minute, "the client is answered", func() bool {
			st = w.status("4711")
			return st.Phase == statemachine.Ready && st.OriginalCount == 0 && len(st.Instances) == 3
		})
		for id := range held {
			if !ids(st)[id] {
				t.Errorf("%s was held before the client came, and is no seat of it", id)
			}
		}
		for _, seat := range st.Instances {
			if seat.Seconds < 0 {
				t.Errorf("%s came %v s after the client had asked, want 0 at least", seat.InstanceID, seat.Seconds)
			}
		}
		w.finish(4711)
		w.awaitPhase("4711", 2, statemachine.PhaseReleased, 5*time.Minute)
		if _, c := w.runStatus(4711); c != githubapi.ConclusionSuccess {
			t.Errorf("run ended with %s, want success", c)
		}
	})
}

// Nobody waits for an answer: when the request fails its run is cancelled, and says why; a run that has no job of its label is let be.
func TestWatcher_NobodyWaits_FailureCancelsTheRun(t *testing.T) {
	unserved := func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, labelled("test", "4711", 30))
		w.start(99, labelled("other", "somewhere", 30))
		for id, r := range map[int64]store.RunRequest{4711: spec("4711", 1, ofRun(4711, 1), unserved), 99: spec("99-b", 1, ofRun(99, 1), unserved)} {
			_ = id
			if _, err := w.Store.Submit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		w.await(time.Minute, "cancelled", func() bool { _, c := w.runStatus(4711); return c == githubapi.ConclusionCancelled })
		w.await(poll, "said", func() bool { return w.status("4711").Watch.Cancel == store.Done })
		checks := w.Hub.Workflows().CheckRuns()
		if len(checks) != 1 || !regexp.MustCompile("^```text\nremuda has no runners[^\n`]*z9\\*[^\n`]*\n```$").MatchString(checks[0].Summary) {
			t.Errorf("check runs %+v, want one that says why, verbatim", checks)
		}
		time.Sleep(5 * time.Minute)
		if s, _ := w.runStatus(99); s == githubapi.StatusCompleted {
			t.Error("a run was cancelled that has no job of the request's")
		}
		if got := w.status("99-b").Watch; got.Cancel != "" || !strings.Contains(got.Detail, "left alone") {
			t.Errorf("cancel of the other is %q, %q, want nothing, and why", got.Cancel, got.Detail)
		}
	})
}

// A request that fails before its repository was looked at for the first time says all the same that its run is watched.
func TestWatcher_FailedBeforeTheFirstLook_SaysThatItIsWatched(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves = repository })
		w.start(4711, labelled("test", "4711", 30))
		w.submit(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.NoWait, r.AllowedInstanceTypes = true, []string{"z9*"} }))
		w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		w.await(time.Minute, "cancelled", func() bool { _, c := w.runStatus(4711); return c == githubapi.ConclusionCancelled })
		w.await(poll, "said", func() bool { return w.status("4711").Watch.Cancel == store.Done })
		if got := w.status("4711").Watch.State; got != store.Watched {
			t.Errorf("watch state %q, want %q", got, store.Watched)
		}
	})
}

// Where GitHub does not show runs the request says so, and is served and given back as ever; once GitHub does, within ten minutes, they
// are watched.
func TestWatcher_Denied_SaidAndAskedAgain(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.must(w.Hub.Workflows().SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}))
		time.Sleep(poll)
		w.start(4711, provision(), labelled("test", "4711", 30, "provision"))
		st := w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		if st.Watch.State != store.WatchDenied || !strings.Contains(st.Watch.Detail, "Resource not accessible") {
			t.Errorf("watch state %q, %q, want %q, and GitHub's words", st.Watch.State, st.Watch.Detail, store.WatchDenied)
		}
		w.must(w.Hub.Workflows().Cancel(4711))
		time.Sleep(5 * time.Minute)
		if w.requestOf("4711").Released() {
			t.Fatal("given back, though GitHub shows nothing")
		}
		w.must(w.Hub.Workflows().SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessWrite, Checks: githubsim.AccessWrite}))
		w.await(10*time.Minute, "given back", func() bool { return w.requestOf("4711").Released() })
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, time.Minute)
	})
}

// A run that a repository does not have is over, but only the third time: one that is new may not be shown yet.
func TestWatcher_RunIsNotThere_OverTheThirdTime(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.Waive(sim.Freed)
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		before := w.Hub.Calls()[githubsim.CallRun]
		w.await(5*poll, "given back", func() bool { return w.requestOf("4711").Released() })
		if n := w.Hub.Calls()[githubsim.CallRun]; n < 3 || before > 3 {
			t.Errorf("given back after %d calls, %d of them before it was ready, want three at least", n, before)
		}
	})
}

// Two requests of one run are watched apart: only the one whose jobs are run again is asked for again.
func TestWatcher_TwoRequestsOfARun(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("a", "4711-a", 30, "provision"), labelled("b", "4711-b", 30, "provision"))
		w.serve(spec("4711-a", 1, ofRun(4711, 1)), 2*time.Minute)
		w.serve(spec("4711-b", 1, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.awaitPhase("4711-a", 1, statemachine.PhaseReleased, 3*time.Minute)
		w.awaitPhase("4711-b", 1, statemachine.PhaseReleased, 3*time.Minute)
		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{Job: w.jobOf(4711, "b").ID}))
		w.awaitPhase("4711-b", 2, statemachine.Ready, time.Minute)
		w.awaitPhase("4711-b", 2, statemachine.PhaseReleased, 3*time.Minute)
		if n := w.requestOf("4711-a").Attempt; n != 1 {
			t.Errorf("attempt %d of the request without jobs, want 1", n)
		}
	})
}

// The controller's own attempt fails for want of machines; the client that comes then is served all the same.
func TestWatcher_ClientTakesOverWhatFailed(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("early", "4711", 60), labelled("test", "4711", 30, "provision"))
		w.serve(spec("4711", 2, ofRun(4711, 1), within(time.Minute)), 2*time.Minute)
		w.finish(4711)
		w.awaitPhase("4711", 1, statemachine.PhaseReleased, 5*time.Minute)
		w.drain(store.DrainOrder{ID: "all"})
		w.await(time.Minute, "no machine is left", func() bool { return len(w.Fleet.Alive()) == 0 })
		w.must(w.Hub.Workflows().SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessRead, Checks: githubsim.AccessNone})) // cancels nothing
		w.Boot = 5 * time.Minute
		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{}))
		st := w.awaitPhase("4711", 2, statemachine.Failed, 3*time.Minute)
		w.await(poll, "not cancelled", func() bool { return w.status("4711").Watch.Cancel == store.NotDone })
		w.Boot = 10 * time.Second
		w.submit(spec("4711", 2, ofRun(4711, 2), within(5*time.Minute)))
		w.await(2*time.Minute, "the client is served", func() bool {
			st = w.status("4711")
			return st.Phase == statemachine.Ready && st.OriginalCount == 0 && len(st.Instances) == 2
		})
		w.finish(4711)
		w.awaitPhase("4711", st.Attempt, statemachine.PhaseReleased, 5*time.Minute)
	})
}
