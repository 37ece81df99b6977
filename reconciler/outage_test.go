package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H53: GitHub is down while an instance needs a registration: it is asked at the pace of the policy,
// nobody is rejected for it, and the request is served when GitHub is back.
func TestGitHubDown_IsAskedGently(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.warm("100", 1, nil)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
		before := w.Hub.Calls()[githubsim.CallJIT]
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		if n := w.Hub.Calls()[githubsim.CallJIT] - before; n > 60 {
			t.Errorf("%d registrations were tried in a minute of outage, want about one in 2 s", n)
		}
		w.Hub.SetOutage(githubsim.Outage{})
		if st := w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second); !st.Instances[0].Warm {
			t.Errorf("run 200 got %+v, want the warm one", st.Instances[0])
		}
	})
}

// H53: where GitHub does what it is asked and its answers are lost, or come too late, for long, no more than one runner
// for a machine is left of all that was tried, and none once it answers.
func TestGitHubDoesNotAnswer_LeavesNoRunners_H53(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"Lost": func(w *world) { w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Lost, Calls: clientCalls}) },
		"Late": func(w *world) { w.Hub.SetLatency(githubsim.Latency{API: 12 * time.Second}) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				defer w.controller("c1", nil)()
				r := spec("100", 2)
				r.Timeout = store.SecondsOf(time.Hour)
				begin(w)
				w.submit(r)
				for range 30 {
					time.Sleep(time.Minute)
					if n := len(w.runners()); n > 2 {
						t.Fatalf("%d runners at GitHub for 2 machines", n)
					}
				}
				w.Hub.SetOutage(githubsim.Outage{})
				w.Hub.SetLatency(githubsim.Latency{})
				w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				if n := len(w.runners()); n != 2 {
					t.Errorf("%d runners at GitHub for 2 machines", n)
				}
				w.checkNoneEnded()
			})
		})
	}
}

// runners lists what is registered at GitHub, without a call that an outage befalls.
func (w *world) runners() []string {
	var out []string
	for _, r := range w.Hub.Registrations() {
		if r.Removed == "" {
			out = append(out, r.Name)
		}
	}
	return out
}

// H12 H13: the store takes no writes for five seconds in the middle of a claim. The registration that was
// made then is delivered afterwards; the pool is not passed over for failures that were the store's.
func TestStoreDown_InTheMiddleOfAClaim(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.warm("100", 3, nil)
		w.Hub.SetLatency(githubsim.Latency{API: 100 * time.Millisecond})
		w.submit(spec("200", 3))
		time.Sleep(20 * time.Millisecond)
		w.Down(true)
		time.Sleep(5 * time.Second)
		w.Down(false)
		w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second)
		if n := w.Fleet.Launched(); n != 3 {
			t.Errorf("launched %d, want the 3 of the pool and no more", n)
		}
	})
}

// S80 invariant 7: a request has its answer at its deadline, also while GitHub being down keeps an older attempt
// from going back.
func TestDeadline_WhileAnOlderAttemptCannotGoBack(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		again := spec("100", 1)
		again.Attempt, again.Timeout = 2, store.SecondsOf(time.Minute)
		w.submit(again)
		w.awaitPhase("100", 2, statemachine.Failed, 65*time.Second)
	})
}

// Invariant 3 H03: an order to dismiss that GitHub being down keeps from being carried out stops no expiry.
func TestExpiry_DespiteADrainOrderAndAnOutage(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		r := spec("100", 1)
		r.MaxRuntime = store.SecondsOf(3 * time.Minute)
		w.submit(r)
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: "all", CreatedAt: store.At(w.Clock.Now())}); err != nil {
			t.Fatal(err)
		}
		w.Hang(st.Instances[0].InstanceID)
		w.await(4*time.Minute, "gone by its threshold", func() bool { return len(w.Fleet.Alive()) == 0 })
	})
}

// H29: a seat of a Ready request that cannot be filled again is not asked for all the time.
func TestRefill_Refused_PausesLonger(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.Crash(st.Instances[0].InstanceID)
		before := w.Fleet.Calls(fleettest.CallPlan)
		time.Sleep(10 * time.Minute)
		if n := w.Fleet.Calls(fleettest.CallPlan) - before; n > 60 {
			t.Errorf("%d plans in 10 minutes without capacity, want few", n)
		}
	})
}

// H41: a run is repeated just after the records of its first attempt expired.
func TestAttempt_AfterTheRecordsExpired(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.IdlePoll = time.Second
		defer w.controller("c1", nil)()
		w.warm("100", 1, nil)
		st := w.status("100")
		w.await(time.Minute, "expiry set", func() bool { st = w.status("100"); return !st.ExpiresAt.IsZero() })
		time.Sleep(st.ExpiresAt.Sub(w.Clock.Now()) + time.Second)
		again := spec("100", 1)
		again.Attempt = 2
		w.submit(again)
		w.awaitPhase("100", 2, statemachine.Ready, time.Minute)
	})
}

// The caps hold also when requests of different kinds come at the same moment.
func TestCaps_HoldAcrossKinds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.MaxInstances = 6
		defer w.controller("c1", nil)()
		a, b := spec("100", 5), spec("200", 5)
		b.AllowedInstanceTypes = []string{"c6i.*"}
		w.submit(a)
		w.submit(b)
		time.Sleep(time.Minute)
		if n := len(w.Fleet.Alive()); n > 6 {
			t.Errorf("%d machines live under a cap of 6", n)
		}
	})
}

// H31: a machine too many takes no job of the run, and goes to the pool once it has booted.
func TestSurplus_IsPooledUnused(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		m, _ := w.Fleet.Machine(string(st.Instances[0].InstanceID))
		m.ID, m.Principal = "", ""
		more, _ := w.Fleet.Machine(w.Fleet.Add(m)) // the fleet brought one more than asked for
		w.Waive(sim.Needed)
		w.Start(more)
		jobs := w.jobs("100", 2, 300)
		w.await(3*time.Minute, "the one too many pooled", func() bool { return w.pooled() == 1 })
		for _, j := range w.awaitJobs(jobs, 20*time.Minute) {
			if j.InstanceID == more.ID {
				t.Errorf("job %s ran on %s, which came too many", j.ID, more.ID)
			}
		}
	})
}

// clientCalls are the calls of the controller: runners go on working.
var clientCalls = []githubsim.Call{githubsim.CallJIT, githubsim.CallToken, githubsim.CallList, githubsim.CallGet, githubsim.CallDelete}
