package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// warm brings n instances into the pool, by a run of its own.
func (w *world) warm(run string, n int, change func(*store.RunRequest)) store.RunStatus {
	w.t.Helper()
	r := spec(run, n)
	if change != nil {
		change(&r)
	}
	before := w.pooled()
	defer w.submit(r)()
	st := w.awaitPhase(run, 1, statemachine.Ready, 5*time.Minute)
	w.release(run, 1, store.Drain)
	w.awaitPhase(run, 1, statemachine.ReleasedPhase, time.Minute)
	w.await(time.Minute, "pooled", func() bool { return w.pooled() == before+n })
	return st
}

// S60 S62 S68: two requests of five over a pool of six, and no more to be had: the older is served,
// the younger waits and then gets its own.
func TestTwoRequestsOverAPoolOfSix(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.MaxInstances = 6
		defer w.controller("c1", nil)()
		w.warm("100", 6, nil)
		older, younger := spec("200", 5), spec("300", 5)
		w.submit(older)
		time.Sleep(5 * time.Millisecond)
		w.submit(younger)
		first := w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second)
		time.Sleep(2 * time.Minute)
		if st := w.status("300"); st.Phase != statemachine.Pending {
			t.Fatalf("the younger is %s with one instance left, want Pending", st.Phase)
		}
		w.awaitJobs(w.jobs("200", 5, 10), time.Minute)
		w.release("200", 1, store.Drain)
		second := w.awaitPhase("300", 1, statemachine.Ready, 30*time.Second)
		shared := 0
		for id := range ids(second) {
			if ids(first)[id] {
				shared++
			}
		}
		if shared != 4 || len(ids(second)) != 5 {
			t.Errorf("the younger got %v, want the one left and four of %v", ids(second), ids(first))
		}
		if n := w.Fleet.Launched(); n != 6 {
			t.Errorf("launched %d, want 6", n)
		}
	})
}

// The same without a pool, from a fleet of six: what the younger got and the older lacks goes back.
func TestTwoRequestsOverAFleetOfSix_YoungerYields(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 6)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 4)) // leaves two
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.submit(spec("200", 3)) // the older: two come, one is missing
		time.Sleep(time.Second)
		young := spec("300", 1)
		w.submit(young)
		w.release("100", 1, store.Drain) // now four are free
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.awaitPhase("300", 1, statemachine.Ready, time.Minute)
		if n := len(w.Fleet.Alive()); n != 6 {
			t.Errorf("%d machines live, want 6", n)
		}
	})
}

type failingScript struct{ status string }

func (s failingScript) Run(context.Context) error {
	return errors.New("exit status " + s.status + ": apt-get: no such package frobnicate")
}

// S39 H33: a script that always fails ends in Failed with its last lines, not in a bill.
func TestScriptAlwaysFails(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Script = failingScript{"100"}
		w.Waive(statemachine.ReasonScript)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		st := w.awaitPhase("100", 1, statemachine.Failed, 9*time.Minute)
		if st.Reason != reconciler.ReasonBudget || !strings.Contains(st.Message, "frobnicate") {
			t.Errorf("failed for %q: %q, want %s with the script's last lines", st.Reason, st.Message, reconciler.ReasonBudget)
		}
		if n := w.Fleet.Launched(); n > 2+3 {
			t.Errorf("launched %d machines for 2 seats, want at most 5", n)
		}
		w.checkDrained(10 * time.Minute)
	})
}

// H41: the same run again, as attempt 1 and as attempt 2, while the first winds down.
func TestAttempts_WhileTheFirstWindsDown(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		first := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		job := w.jobs("100", 1, 60)
		w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
		w.release("100", 1, store.Drain)

		w.submit(spec("100", 2)) // attempt 1 again: the same request, still winding down
		if st := w.status("100"); st.Attempt != 1 || st.Phase != statemachine.Ready {
			t.Fatalf("attempt 1 again: %d %s, want it unchanged", st.Attempt, st.Phase)
		}
		other := spec("100", 3)
		if _, err := w.Store.Submit(t.Context(), other); !errors.Is(err, store.ErrOtherSpec) {
			t.Errorf("attempt 1 with another spec: %v, want ErrOtherSpec", err)
		}
		again := spec("100", 2)
		again.Attempt = 2
		w.submit(again)
		st := w.awaitPhase("100", 2, statemachine.Ready, 3*time.Minute)
		w.awaitJobs(job, time.Minute)
		for id := range ids(first) {
			if in := w.Instances()[id]; in.RunID != "" && in.Attempt != 2 {
				t.Errorf("%s still belongs to attempt %d", id, in.Attempt)
			}
		}
		w.release("100", 1, store.Now) // late: must not free attempt 2
		time.Sleep(time.Minute)
		if now := w.status("100"); now.Phase != statemachine.Ready || now.Attempt != 2 {
			t.Errorf("a late release of attempt 1 made attempt 2 %s", now.Phase)
		}
		if n := w.in(statemachine.Running); n != len(st.Instances) {
			t.Errorf("%d instances run, want %d", n, len(st.Instances))
		}
	})
}

// H31 H38: release while a job still runs waits for it; now does not.
func TestRelease_WhileAJobRuns(t *testing.T) {
	for _, mode := range []store.ReleaseMode{store.Drain, store.Now} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				defer w.controller("c1", nil)()
				w.submit(spec("100", 2))
				w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				job := w.jobs("100", 1, 120)
				w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
				time.Sleep(time.Second)
				start := w.Clock.Now()
				w.release("100", 1, mode)
				w.awaitPhase("100", 1, statemachine.ReleasedPhase, 3*time.Minute)
				took := w.Clock.Since(start)
				w.await(time.Minute, "both pooled", func() bool { return w.pooled() == 2 })
				j, err := w.Hub.Job(job[0])
				if err != nil {
					t.Fatal(err)
				}
				if mode == store.Drain {
					if took < 110*time.Second {
						t.Errorf("released after %s, want the job awaited", took)
					}
				} else if took > 30*time.Second || j.Conclusion == githubsim.Success {
					t.Errorf("released after %s with the job %s, want it cut short", took, j.Conclusion)
				}
			})
		})
	}
}

// S11 S23 S63 S66 H07 H29: a machine lost during the claim: it ends, its seat is filled again, the others stay.
func TestAgentKilledDuringClaim(t *testing.T) {
	for _, how := range []string{"crash", "hang"} {
		t.Run(how, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				defer w.controller("c1", nil)()
				w.warm("100", 3, nil)
				w.Hub.SetLatency(githubsim.Latency{Session: 3 * time.Second}) // so that the claim takes a while
				w.submit(spec("200", 3))
				var victim store.InstanceID
				w.await(10*time.Second, "claimed", func() bool {
					for id, in := range w.Instances() {
						if in.State == statemachine.Claimed {
							victim = id
						}
					}
					return victim != ""
				})
				if how == "crash" {
					w.Crash(victim)
				} else {
					w.Hang(victim)
				}
				st := w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
				if ids(st)[victim] || len(ids(st)) != 3 {
					t.Errorf("run 200 got %v without %s, want three others", ids(st), victim)
				}
				if in := w.Instances()[victim]; in.State != statemachine.Terminated || in.Reason == "" {
					t.Errorf("victim: %s for %q, want terminated with a reason", in.State, in.Reason)
				}
				if n := w.Fleet.Launched(); n != 4 {
					t.Errorf("launched %d, want 4", n)
				}
			})
		})
	}
}

// S89 H34: what no fleet can serve fails while pending, with a reason.
func TestImpossibleRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*store.RunRequest)
		reason string
		says   string
	}{
		"class":   {func(r *store.RunRequest) { r.ResourceClass = "huge" }, reconciler.ReasonSpec, "resourceClass"},
		"count 0": {func(r *store.RunRequest) { r.Count = 0 }, reconciler.ReasonSpec, "count"},
		"count":   {func(r *store.RunRequest) { r.Count = 10000 }, reconciler.ReasonSpec, "1000"},
		"usage":   {func(r *store.RunRequest) { r.UsageClasses = []string{"free"} }, reconciler.ReasonSpec, "usageClass"},
		"type":    {func(r *store.RunRequest) { r.AllowedInstanceTypes = []string{"zz9*"} }, reconciler.ReasonHopeless, "zz9"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				defer w.controller("c1", nil)()
				r := spec("100", 1)
				tc.change(&r)
				w.submit(r)
				st := w.awaitPhase("100", 1, statemachine.Failed, 10*time.Second)
				if st.Reason != tc.reason || !strings.Contains(st.Message, tc.says) {
					t.Errorf("failed for %q: %q, want %q naming %q", st.Reason, st.Message, tc.reason, tc.says)
				}
				if n := w.Fleet.Launched(); n != 0 {
					t.Errorf("launched %d, want none", n)
				}
			})
		})
	}
}

// S42 S67 S80: no readiness leads to a defined failure at the deadline, with the reason.
func TestDeadline(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 1)
		defer w.controller("c1", nil)()
		r := spec("100", 3)
		r.Timeout = store.SecondsOf(5 * time.Minute)
		w.submit(r)
		start := w.Clock.Now()
		st := w.awaitPhase("100", 1, statemachine.Failed, 6*time.Minute)
		if took := w.Clock.Since(start); took < 5*time.Minute || took > 5*time.Minute+time.Second {
			t.Errorf("failed after %s, want 5m", took)
		}
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "1 of 3") {
			t.Errorf("failed for %q: %q", st.Reason, st.Message)
		}
		w.await(time.Minute, "the healthy one pooled", func() bool { return w.pooled() == 1 }) // S08 S78
	})
}

// H30: a client that vanished is not served for ever, and what was got for it goes back.
func TestClientVanished(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 1)
		defer w.controller("c1", nil)()
		gone := w.submit(spec("100", 2))
		time.Sleep(2 * time.Minute)
		if st := w.status("100"); st.Phase != statemachine.Pending {
			t.Fatalf("%s while its client waits, want Pending", st.Phase)
		}
		gone()
		st := w.awaitPhase("100", 1, statemachine.Failed, 100*time.Second)
		if st.Reason != reconciler.ReasonVanished {
			t.Errorf("failed for %q, want %q", st.Reason, reconciler.ReasonVanished)
		}
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
	})
}

// H30: so does one that holds nothing and can have nothing.
func TestClientVanished_WithNothing_H30(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		defer w.controller("c1", nil)()
		gone := w.submit(spec("100", 1))
		time.Sleep(10 * time.Second)
		gone()
		if st := w.awaitPhase("100", 1, statemachine.Failed, 100*time.Second); st.Reason != reconciler.ReasonVanished {
			t.Errorf("failed for %q, want %q", st.Reason, reconciler.ReasonVanished)
		}
	})
}

// S51 S73 S75: usage classes are kept apart, and tried in the order of preference.
func TestUsageClassFallback(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot}, 1)
		defer w.controller("c1", nil)()
		r := spec("100", 3)
		r.UsageClasses = []string{store.Spot, store.OnDemand}
		w.submit(r)
		st := w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute)
		got := map[string]int{}
		for _, s := range st.Instances {
			got[s.UsageClass]++
		}
		if got[store.Spot] != 1 || got[store.OnDemand] != 2 {
			t.Errorf("got %v, want 1 spot and 2 on-demand", got)
		}
		w.release("100", 1, store.Drain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 3 })
		only := spec("200", 1)
		only.UsageClasses = []string{store.OnDemand}
		w.submit(only)
		if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); st.Instances[0].UsageClass != store.OnDemand {
			t.Errorf("an on-demand request got %+v", st.Instances)
		}
	})
}

// S43 S53 S56 S58 S90: a picky request beside a full pool gets new machines at once.
func TestPickyBesideAFullPool(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		full := w.warm("100", 3, func(r *store.RunRequest) { r.AllowedInstanceTypes = []string{"c*"} })
		r := spec("200", 1)
		r.AllowedInstanceTypes = []string{"r6i.*"}
		w.submit(r)
		st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		if s := st.Instances[0]; s.Warm || s.InstanceType != "r6i.large" || ids(full)[s.InstanceID] {
			t.Errorf("got %+v, want a new r6i.large", s)
		}
		large := spec("300", 1)
		large.ResourceClass = "large"
		w.submit(large)
		if s := w.awaitPhase("300", 1, statemachine.Ready, time.Minute).Instances[0]; s.Warm {
			t.Errorf("a request for class large got %+v of class small", s)
		}
		if n := w.pooled(); n != 3 {
			t.Errorf("%d pooled, want all 3", n)
		}
	})
}

// H12 H27: the store takes no writes for two minutes. Nobody's silence counts, nobody is lost, and the
// request that came meanwhile is served warm once agents are heard again.
func TestStoreTakesNoWrites_NobodyIsLost(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.warm("100", 2, nil)
		w.submit(spec("200", 1))
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.Down(true)
		time.Sleep(2 * time.Minute)
		w.Down(false)
		time.Sleep(20 * time.Second)
		if n := w.in(statemachine.Terminated); n != 0 {
			t.Errorf("%d instances were given up while nobody could report", n)
		}
		w.submit(spec("300", 1))
		if st := w.awaitPhase("300", 1, statemachine.Ready, time.Minute); !st.Instances[0].Warm {
			t.Errorf("run 300 got %+v, want the warm one", st.Instances[0])
		}
	})
}
