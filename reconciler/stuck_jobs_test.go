package reconciler_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// twoReads is how late a report may be: two polls without a read, two reads of the run, and the next step.
const twoReads = 4 * poll

// reported waits for the report of a request.
func (w *world) reported(id string, limit time.Duration, parts ...string) {
	w.t.Helper()
	w.await(limit, "reported", func() bool { return w.status(id).Watch.Waits != "" })
	for _, part := range parts {
		if got := w.status(id).Watch.Waits; !strings.Contains(got, part) {
			w.t.Errorf("reported is %q, want %q in it", got, part)
		}
	}
}

// queued waits until a job waits.
func (w *world) queued(key string) {
	w.t.Helper()
	w.await(time.Minute, "queued", func() bool {
		r, err := w.Hub.Workflows().Run(4711)
		w.must(err)
		for _, j := range r.Jobs {
			if j.Key == key {
				return j.Status == githubapi.StatusQueued
			}
		}
		return false
	})
}

// stuckNotes counts the check runs about jobs that wait for no runner.
func (w *world) stuckNotes() int {
	n := 0
	for _, c := range w.Hub.Workflows().CheckRuns() {
		if strings.HasSuffix(c.ExternalID, "/stuck") {
			n++
		}
	}
	return n
}

// The labels of a run's jobs name a request that cannot serve them, because of other labels or because it has no more runners. The status
// and a check run report this within two reads. The report ends with the jobs.
func TestStuckJobs_Reported_Case8(t *testing.T) {
	for name, tt := range map[string]struct {
		label string
		until func(w *world) // before the job queues
		limit time.Duration
		says  string
	}{
		"SelfHostedBesides": {"self-hosted,4711", func(*world) {}, twoReads, "job build waits under the labels [self-hosted, 4711], and the runners of request 4711 have no other label"},
		"OwnLabelsBesides":  {"4711,linux,x64", func(*world) {}, twoReads, "use it alone in runs-on"},
		"InOtherCase":       {"Self-Hosted,4711-A", func(*world) {}, twoReads, "remuda has no request 4711-A"},
		"Unknown":           {"4711-gpu", func(*world) {}, twoReads, "remuda has no request 4711-gpu"},
		"Released": {"4711", func(w *world) {
			w.give("4711", 1, store.ReleaseDrain, time.Minute)
		}, twoReads, "request 4711 was released"},
		"UsedUp": {"4711", func(w *world) {
			w.awaitPhase("4711", 1, statemachine.PhaseReleased, 40*time.Minute)
		}, twoReads, "request 4711 is over (max_runtime)"},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, w *world) {
				w.start(4711, provision(), labelled("build", tt.label, 30, "provision"))
				w.serve(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(5 * time.Minute) }), 2*time.Minute)
				tt.until(w)
				w.finish(4711)
				w.queued("build")
				w.reported("4711", tt.limit, tt.says)
				w.await(poll, "a check run", func() bool { return w.stuckNotes() == 1 })
				w.must(w.Hub.Workflows().Cancel(4711))
				w.await(3*poll, "nothing is said of a run that is over", func() bool { return w.status("4711").Watch.Waits == "" })
			})
		})
	}
}

// A request with a client has failed, and a job without needs waits under its label.
func TestStuckJobs_Failed(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("early", "4711", 30))
		w.submit(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.AllowedInstanceTypes = []string{"z9*"} }))
		w.awaitPhase("4711", 1, statemachine.Failed, time.Minute)
		w.reported("4711", twoReads, "request 4711 failed: unsatisfiable")
		if s, _ := w.runStatus(4711); s == githubapi.StatusCompleted {
			t.Error("the run is over: it was canceled")
		}
	})
}

// Hours into a run, a job queues under a request that has no runner left, while another request of the run serves a job.
func TestStuckJobs_LateInALongRun_Reported_Review(t *testing.T) {
	takesLong(t)
	for name, tt := range map[string]struct {
		lose func(w *world)
		says string
	}{
		"Released": {func(w *world) { w.give("4711-a", 1, store.ReleaseDrain, time.Minute) }, "request 4711-a was released"},
		"Lost": {func(w *world) {
			w.Waive(sim.Caused) // the launch budget ends with instances that only boot slowly
			w.Boot = time.Hour
			w.Crash(w.status("4711-a").Instances[0].InstanceID)
		}, "request 4711-a has no instance left: 4 instances were launched for 1 seats"},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(_ *testing.T, w *world) {
				long := func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(6 * time.Hour) }
				w.start(4711, provision(), labelled("long", "4711-b", 5*3600, "provision"),
					githubsim.JobSpec{Key: "lint", Hosted: true, Seconds: 2.2 * 3600, Needs: []string{"provision"}}, labelled("late", "4711-a", 30, "lint"))
				w.serve(spec("4711-a", 1, ofRun(4711, 1), long), 2*time.Minute)
				w.serve(spec("4711-b", 1, ofRun(4711, 1), long), 2*time.Minute)
				w.finish(4711)
				tt.lose(w)
				time.Sleep(2 * time.Hour)
				w.awaitEvery(time.Second, time.Hour, "queued", func() bool {
					r, err := w.Hub.Workflows().Run(4711)
					w.must(err)
					return slices.ContainsFunc(r.Jobs, func(j githubsim.RunJob) bool { return j.Key == "late" && j.Status == githubapi.StatusQueued })
				})
				w.reported("4711-a", 80*poll, "job late waits", tt.says)
			})
		})
	}
}

// unlisted is a GitHub that fails to list its runners at first.
type unlisted struct {
	reconciler.GitHub
	calls, fails int64
}

func (u *unlisted) Runners(ctx context.Context) ([]githubapi.Runner, error) {
	if atomic.AddInt64(&u.calls, 1) <= u.fails {
		return nil, githubapi.ErrUnavailable
	}
	return u.GitHub.Runners(ctx)
}

// A report that a leader cannot clear, or leaves to the next leader, ends although all instances of the run are busy.
func TestStuckJobs_ReportIsCleared_Review(t *testing.T) {
	for _, name := range []string{"AnotherLeader", "FailedWrite"} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.Watch.Serves = repository })
				table := w.unwritableTable()
				stop := w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows(), Table: table})
				w.start(4711, provision(), labelled("build", "self-hosted,4711", 30, "provision"),
					githubsim.JobSpec{Key: "lint", Hosted: true, Seconds: 300, Needs: []string{"provision"}}, labelled("long", "4711", 3600, "lint"))
				w.serve(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(2 * time.Hour) }), 2*time.Minute)
				w.finish(4711)
				w.queued("build")
				w.reported("4711", twoReads)
				w.await(10*time.Minute, "its instance is busy", func() bool {
					r, err := w.Hub.Workflows().Run(4711)
					w.must(err)
					return len(r.Jobs) == 4 && r.Jobs[3].Status == githubapi.StatusInProgress
				})
				time.Sleep(time.Minute)
				take := func() { w.must(w.Hub.Cancel(strconv.FormatInt(w.jobOf(4711, "build").ID, 10))) }
				if name == "AnotherLeader" {
					stop()
					take()
					w.controllerWith("c2", reconciler.Options{Runs: w.Hub.Workflows()})
				} else {
					table.refuse(func(item store.Item) bool {
						return item.Key.Sort == store.KindRunStatus && !bytes.Contains(item.Attributes, []byte(`"waits"`))
					})
					take()
					w.await(2*poll, "the write fails", func() bool { return table.tries.Load() > 0 })
					time.Sleep(2 * poll) // the store writes it again
					table.takeAll()
				}
				w.await(4*poll, "cleared", func() bool { return w.status("4711").Watch.Waits == "" })
			})
		})
	}
}

// A job that another runner can take, or may be able to, is never reported, however long it waits.
func TestStuckJobs_OfOthers_NeverReported(t *testing.T) {
	takesLong(t)
	for name, label := range map[string]string{
		"GitHubs": "ubuntu-latest", "LargerRunner": "ubuntu-22.04-16core", "ScaleSet": "arc-runner-set", "OtherFleet": "self-hosted,linux,gpu",
		"FleetWithoutRunners": "self-hosted",
		"OtherProduct":        "runs-on=4711,runner=2cpu", "OtherRun": "4712", "LongerNumber": "47110",
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, func(t *testing.T, w *world) {
				w.start(4711, provision(), labelled("build", label, 30, "provision"))
				w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
				w.finish(4711)
				w.queued("build")
				time.Sleep(15 * time.Minute)
				if got := w.status("4711").Watch.Waits; got != "" || w.stuckNotes() != 0 {
					t.Errorf("reported is %q, want nothing", got)
				}
				if w.requestOf("4711").Released() {
					t.Error("its instances were released")
				}
			})
		})
	}
}

// A runner of somebody else has all labels, online or not: the job is not reported.
func TestStuckJobs_AnotherRunnerHasTheLabels_NeverReported(t *testing.T) {
	for _, label := range []string{"self-hosted,4711", "4711-gpu"} {
		t.Run(label, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.Watch.Serves = repository })
				hub := &unlisted{GitHub: w.Hub}
				w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows(), GitHub: hub})
				token, err := w.Hub.RegistrationToken(t.Context())
				w.must(err)
				_, err = w.Hub.Register(t.Context(), token.Value, githubsim.RegisterRequest{Name: "by-hand", Labels: append(strings.Split(label, ","), "x64")})
				w.must(err)
				w.start(4711, provision(), labelled("build", label, 30, "provision"))
				w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
				w.finish(4711)
				w.queued("build")
				before := atomic.LoadInt64(&hub.calls)
				time.Sleep(40 * poll)
				if calls := atomic.LoadInt64(&hub.calls) - before; calls < 1 || calls > 10 {
					t.Errorf("the runners were listed %d times in 40 polls, want only some times", calls)
				}
				if got := w.status("4711").Watch.Waits; got != "" {
					t.Errorf("reported is %q, want nothing: a runner of somebody else takes it", got)
				}
			})
		})
	}
}

// A request that may still be made is not missed: a job that asks for runners runs.
func TestStuckJobs_RequestIsStillToCome_NotReported(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("early", "4711-b", 30))
		w.serve(spec("4711-a", 1, ofRun(4711, 1)), 2*time.Minute)
		time.Sleep(5 * time.Minute)
		if got := w.status("4711-a").Watch.Waits; got != "" {
			t.Errorf("reported is %q, want nothing: the job that asks runs", got)
		}
		w.serve(spec("4711-b", 1, ofRun(4711, 1)), 2*time.Minute)
		w.await(time.Minute, "it ran", func() bool { return w.jobOf(4711, "early").Status == githubapi.StatusCompleted })
	})
}

// GitHub's lists are a minute late: jobs that were taken before their request was released are not reported.
func TestStuckJobs_LateLists_NotReported(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.must(w.Hub.Workflows().SetView(githubsim.View{Lag: 50 * time.Second}))
		w.start(4711, provision(), labelled("build", "4711", 5, "provision"), githubsim.JobSpec{Key: "deploy", Hosted: true, Seconds: 600, Needs: []string{"build"}})
		w.serve(spec("4711", 1, ofRun(4711, 1)), 2*time.Minute)
		w.finish(4711)
		w.await(time.Minute, "it ran", func() bool {
			r, err := w.Hub.Workflows().Run(4711)
			w.must(err)
			return len(r.Jobs) == 3
		})
		w.give("4711", 1, store.ReleaseDrain, time.Minute)
		for range 120 {
			time.Sleep(time.Second)
			if got := w.status("4711").Watch.Waits; got != "" {
				t.Fatalf("reported is %q, want nothing: the job is over", got)
			}
		}
	})
}

// If all open jobs of a run are stuck, its instances return after the idle limit, counted from the report. A job that later queues under
// the label is served again. No instance returns while another job of the run continues.
func TestStuckJobs_InstancesReturnAfterIdle(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		w.start(4711, provision(), labelled("build", "self-hosted,4711", 30, "provision"),
			githubsim.JobSpec{Key: "lint", Hosted: true, Seconds: 600, Needs: []string{"provision"}}, labelled("test", "4711", 30, "lint"))
		w.serve(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(2 * time.Hour) }), 2*time.Minute)
		w.finish(4711)
		w.queued("build")
		w.reported("4711", twoReads)
		w.await(15*time.Minute, "test ran", func() bool {
			if w.requestOf("4711").Released() {
				t.Fatal("released while a job runs that others need")
			}
			s, err := w.Hub.Workflows().Run(4711)
			w.must(err)
			return len(s.Jobs) == 4 && s.Jobs[3].Status == githubapi.StatusCompleted
		})
		idle := w.Config().Limits.Idle
		w.await(idle+2*poll, "released", func() bool { return w.requestOf("4711").Released() })
		st := w.awaitPhase("4711", 1, statemachine.PhaseReleased, time.Minute)
		if st.Reason != reconciler.ReasonRunStuck || st.Watch.Waits == "" {
			t.Errorf("reason %q, reported %q, want %q and a report of the stuck jobs", st.Reason, st.Watch.Waits, reconciler.ReasonRunStuck)
		}
	})
}

// Another leader takes a report over: it is not made again, and the idle limit counts from it. This holds although GitHub does not list the
// runners at first.
func TestStuckJobs_AnotherLeader_ReportStays(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves = repository })
		stop := w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		w.start(4711, provision(), labelled("build", "self-hosted,4711", 30, "provision"))
		w.serve(spec("4711", 1, ofRun(4711, 1), func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(2 * time.Hour) }), 2*time.Minute)
		w.finish(4711)
		w.queued("build")
		w.reported("4711", twoReads)
		since := w.status("4711").Watch.WaitsSince
		idle := w.Config().Limits.Idle
		time.Sleep(idle - 2*time.Minute)
		stop()
		hub := &unlisted{GitHub: w.Hub, fails: 2}
		w.controllerWith("c2", reconciler.Options{Runs: w.Hub.Workflows(), GitHub: hub})
		w.await(2*time.Minute+2*poll, "released", func() bool {
			if got := w.status("4711").Watch; got.Waits == "" || got.WaitsSince != since {
				t.Fatalf("reported is %q since %s, want the report of %s", got.Waits, got.WaitsSince, since)
			}
			return w.requestOf("4711").Released()
		})
		if n := w.stuckNotes(); n != 1 {
			t.Errorf("%d check runs, want one", n)
		}
	})
}
