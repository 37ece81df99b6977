package reconciler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// calls counts what was asked of GitHub with an effect on runs.
func (w *world) reruns() int {
	n := w.Hub.Calls()
	return n[githubsim.CallRerunFailed] + n[githubsim.CallRerunJob]
}

// losing starts a run with so many jobs, each on a machine of its own, as many of which are lost as said; those that fail by
// themselves do so at GitHub's own runners.
func (w *world) losing(jobs, lost, fail int) {
	w.t.Helper()
	specs := []githubsim.JobSpec{provision()}
	names := []string{"a", "b", "c"}[:jobs]
	for _, name := range names {
		specs = append(specs, labelled(name, "4711", 120, "provision"))
	}
	for i := range fail {
		specs = append(specs, githubsim.JobSpec{Key: "own" + string(rune('0'+i)), Hosted: true, Seconds: 20, Conclusion: githubsim.Failure, Needs: []string{"provision"}})
	}
	w.start(4711, specs...)
	w.serve(spec("4711", jobs, ofRun(4711, 1), func(r *store.RunRequest) { r.UsageClasses = []string{store.Spot, store.OnDemand} }), 2*time.Minute)
	w.finish(4711)
	w.await(time.Minute, "all jobs run", func() bool {
		for _, name := range names {
			if w.jobOf(4711, name).Status != githubapi.StatusInProgress {
				return false
			}
		}
		return true
	})
	time.Sleep(10 * time.Second) // of each job: its agent has said that it runs
	for _, name := range names[:lost] {
		w.Crash(store.InstanceID(w.jobOf(4711, name).InstanceID))
	}
}

func TestLostJobs(t *testing.T) {
	takesLong(t)
	for _, tt := range []struct {
		name             string
		jobs, lost, fail int
		reruns           int
		rerun            store.Doing
		conclusion       string // of the run in the end
		detail           string
	}{
		{"One", 2, 1, 0, 1, store.Done, githubapi.ConclusionSuccess, "lost with their machines: a; run again"},
		{"All", 2, 2, 0, 1, store.Done, githubapi.ConclusionSuccess, "lost with their machines: a, b; run again"},
		{"OneBesideOwnFailure", 2, 1, 1, 1, store.Done, githubapi.ConclusionFailure, "a; run again"},
		{"TwoBesideOwnFailure", 2, 2, 1, 0, store.NotDone, githubapi.ConclusionFailure, "not run again, because 1 job failed by itself"},
		{"OwnFailureOnly", 1, 0, 1, 0, "", githubapi.ConclusionFailure, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.Watch.Serves, c.Watch.RerunLost = repository, true })
				w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
				w.losing(tt.jobs, tt.lost, tt.fail)
				w.await(10*time.Minute, "attempt 1 is over", func() bool {
					all, err := w.Hub.Workflows().Attempts(4711)
					w.must(err)
					return all[0].Status == githubapi.StatusCompleted
				})
				if tt.reruns > 0 {
					w.await(5*time.Minute, "run again", func() bool { return w.reruns() == tt.reruns })
					st := w.awaitPhase("4711", 2, statemachine.Ready, 2*time.Minute)
					for _, seat := range st.Instances {
						if seat.UsageClass != store.OnDemand {
							t.Errorf("%s is %s, want on-demand", seat.InstanceID, seat.UsageClass)
						}
					}
				}
				time.Sleep(20 * time.Minute)
				if s, c := w.runStatus(4711); s != githubapi.StatusCompleted || c != tt.conclusion {
					t.Errorf("run is %s, %s, want completed, %s", s, c, tt.conclusion)
				}
				st := w.status("4711")
				if st.Watch.Rerun != tt.rerun || !strings.Contains(st.Watch.Detail, tt.detail) {
					t.Errorf("rerun %q, %q, want %q, %q", st.Watch.Rerun, st.Watch.Detail, tt.rerun, tt.detail)
				}
				if n := w.reruns(); n != tt.reruns {
					t.Errorf("%d calls to run something again, want %d", n, tt.reruns)
				}
				if n := len(w.Hub.Workflows().CheckRuns()); (n == 1) != (tt.rerun != "") {
					t.Errorf("%d check runs, want one where machines were lost", n)
				}
			})
		})
	}
}

// A later attempt, which lost nothing, may have spot instances again. The record keeps what its client asked for.
func TestLostJobs_LaterAttempt_IsNotOnDemandAlone_Review_C19(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves, c.Watch.RerunLost = repository, true })
		w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		w.losing(1, 1, 0)
		w.usageOf(2, store.OnDemand)
		w.await(15*time.Minute, "over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		w.drain(store.DrainOrder{ID: "all"})
		w.await(5*time.Minute, "no machine is left", func() bool { return len(w.Fleet.Alive()) == 0 })
		w.must(w.Hub.Workflows().Rerun(4711, githubsim.Again{Job: w.jobOf(4711, "a").ID}))
		w.usageOf(3, store.Spot)
		if got := w.requestOf("4711").UsageClasses; len(got) != 2 {
			t.Errorf("usage classes of the record are %v, want what its client asked for", got)
		}
	})
}

// usageOf expects the only seat of an attempt to be sold so.
func (w *world) usageOf(attempt int, usage string) {
	w.t.Helper()
	st := w.awaitPhase("4711", attempt, statemachine.Ready, 20*time.Minute)
	if len(st.Instances) != 1 || st.Instances[0].UsageClass != usage {
		w.t.Errorf("attempt %d has %+v, want one seat that is %s", attempt, st.Instances, usage)
	}
}

// On-demand instances are switched off after the lost jobs were run again, and before runners are asked for: the attempt is served by
// spot, which its client allowed, and is not canceled.
func TestLostJobs_OnDemandOffMeanwhile_ServedBySpot_Review_S5(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves, c.Watch.RerunLost = repository, true })
		stop := w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		w.losing(1, 1, 0)
		w.await(20*time.Minute, "run again", func() bool { return w.reruns() == 1 })
		stop()
		w.spend(95)
		w.controllerWith("c2", reconciler.Options{Runs: w.Hub.Workflows()})
		w.usageOf(2, store.Spot)
		w.await(15*time.Minute, "over", func() bool { s, _ := w.runStatus(4711); return s == githubapi.StatusCompleted })
		if _, c := w.runStatus(4711); c != githubapi.ConclusionSuccess {
			t.Errorf("run ended with %s, want success", c)
		}
	})
}

// The order to run jobs again is written down first. If its answer does not come, the run's attempt shows whether it had an effect;
// only if it had none, and GitHub's view cannot be late any more, the order is given again.
func TestLostJobs_NoAnswer_NothingRunsTwice(t *testing.T) {
	takesLong(t)
	for name, tt := range map[string]struct {
		mode  githubsim.Mode
		calls int
	}{"ReplyLost": {githubsim.Lost, 1}, "NotTaken": {githubsim.Fails, 2}} {
		for _, stopped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/AnotherController=%t", name, stopped), func(t *testing.T) {
				run(t, func(t *testing.T, w *world) {
					w.Configure(func(c *reconciler.Config) { c.Watch.Serves, c.Watch.RerunLost = repository, true })
					stop := w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
					w.losing(1, 1, 0)
					w.Hub.SetOutage(githubsim.Outage{Mode: tt.mode, Calls: []githubsim.Call{githubsim.CallRerunFailed}})
					w.await(10*time.Minute, "ordered", func() bool { return w.reruns() == 1 })
					if got := w.status("4711").Watch.Rerun; got != store.Intended {
						t.Errorf("rerun is %q at the order, want %q", got, store.Intended)
					}
					w.Hub.SetOutage(githubsim.Outage{})
					if stopped {
						stop()
						w.controllerWith("c2", reconciler.Options{Runs: w.Hub.Workflows()})
					}
					w.awaitPhase("4711", 2, statemachine.PhaseReleased, 15*time.Minute)
					time.Sleep(20 * time.Minute)
					if n := w.reruns(); n != tt.calls {
						t.Errorf("%d calls to run jobs again, want %d", n, tt.calls)
					}
					all, err := w.Hub.Workflows().Attempts(4711)
					w.must(err)
					if len(all) != 2 || all[1].Conclusion != githubapi.ConclusionSuccess {
						t.Errorf("%d attempts, the last one %s, want 2, success", len(all), all[len(all)-1].Conclusion)
					}
				})
			})
		}
	}
}
