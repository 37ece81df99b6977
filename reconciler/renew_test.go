package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// renewed changes the configuration of a controller that runs.
func (w *world) renewed(op *reconciler.Operator, change func(*reconciler.Config)) {
	w.t.Helper()
	if err := op.Renew(w.Configure(change), w.Fleet, nil); err != nil {
		w.t.Fatal(err)
	}
}

// A configuration is taken up within the term: no one else comes to lead, what runs keeps its machines and its thresholds, what
// waited for a cap goes on at once, and a class that is gone ends when its machines come back.
func TestRenew_WithinTheTerm(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		op, _ := w.operator("c1", reconciler.Options{})
		w.controller("c2", nil)
		before, err := w.Store.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first := w.serve(spec("100", 2), time.Minute)
		job := w.jobs("100", 1, 120)
		thresholds := w.Instances()
		w.submit(spec("200", 1))
		w.awaitPhase("200", 1, statemachine.Pending, time.Minute)
		time.Sleep(30 * time.Second)
		w.renewed(op, func(c *reconciler.Config) { c.MaxInstances, c.Limits.Idle = 5, 2*time.Minute })
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		for id := range ids(first) {
			if have := w.instance(id); have.Threshold != thresholds[id].Threshold || have.Version != thresholds[id].Version {
				t.Errorf("%s has another threshold or version: %+v", id, have)
			}
		}
		w.renewed(op, func(c *reconciler.Config) {
			c.Classes = map[string]reconciler.Class{"large": c.Classes["large"], "huge": {CPU: 16, Mem: 65536}}
		})
		w.submit(spec("300", 1))
		w.awaitPhase("300", 1, statemachine.Failed, time.Minute)
		w.serve(spec("400", 1, ofClass("large")), time.Minute)
		if j := w.awaitJobs(job, 5*time.Minute); j[0].Conclusion != "success" {
			t.Errorf("job ended with %s", j[0].Conclusion)
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "the machines of a class that is gone end", func() bool { return w.in(statemachine.Terminated) == 2 })
		after, err := w.Store.Lease(t.Context())
		if err != nil || after.Term != before.Term || after.Holder != before.Holder {
			t.Errorf("lease = %+v, %v, want holder and term of %+v", after, err, before)
		}
		if l := op.Leadership(); !l.Leads || l.Term != before.Term || l.NotReady != "" {
			t.Errorf("leadership = %+v", l)
		}
	}))
}

// What is under way at GitHub when a configuration is taken up costs a registration and no machine, and no name is used twice.
func TestRenew_WhileGitHubIsAsked_NoNameTwice(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		op, _ := w.operator("c1", reconciler.Options{})
		w.Hub.SetLatency(githubsim.Latency{API: time.Second})
		w.submit(spec("100", 3))
		for range 5 {
			time.Sleep(1500 * time.Millisecond)
			w.renewed(op, func(c *reconciler.Config) { c.MaxInstances++ })
		}
		w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute)
		names := map[string]bool{}
		for _, r := range w.Hub.Registrations() {
			if names[r.Name] {
				t.Errorf("runner %s is there twice", r.Name)
			}
			names[r.Name] = true
		}
		w.launched(3)
	}))
}

// What a controller cannot work by is refused, and it goes on with what it has. A standby takes up another for when it leads, and what
// elects it stays as it began.
func TestRenew_RefusedAndStandby(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		op, stop := w.operator("c1", reconciler.Options{})
		standby, _ := w.operator("c2", reconciler.Options{})
		if err := op.Renew(reconciler.Config{}, w.Fleet, nil); err == nil {
			t.Error("a configuration without classes was taken up")
		}
		w.serve(spec("100", 1), time.Minute)
		changed := w.Config()
		changed.MaxInstances, changed.Holder, changed.LeaseTTL = 1, "other", time.Hour
		if err := standby.Renew(changed, w.Fleet, nil); err != nil {
			t.Fatal(err)
		}
		if standby.Leadership().Leads {
			t.Error("the standby leads")
		}
		stop()
		w.await(10*time.Second, "the standby leads", func() bool { return standby.Leadership().NotReady == "" && standby.Leadership().Leads })
		lease, err := w.Store.Lease(t.Context())
		if err != nil || lease.Holder != "c2" {
			t.Errorf("lease = %+v, %v, want that of c2", lease, err)
		}
		w.submit(spec("200", 2))
		w.awaitPhase("200", 1, statemachine.Failed, time.Minute)
	}))
}

// If a reload lowers limits, agents that were launched with longer limits are not affected: jobs continue, and idle instances stay
// claimable.
func TestRenew_LoweredLimits_SpareOldAgents_Review_C13(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		op, _ := w.operator("c1", reconciler.Options{})
		w.warm("100", 2)
		w.serve(spec("200", 1), time.Minute)
		job := w.jobs("200", 1, 300)
		time.Sleep(30 * time.Second)
		w.renewed(op, func(c *reconciler.Config) {
			c.Limits.Beat, c.Limits.Silence, c.Limits.RunningSilence = 500*time.Millisecond, 2*time.Second, 3*time.Second
		})
		time.Sleep(time.Minute)
		if st := w.serve(spec("300", 1), time.Minute); !st.Instances[0].Warm {
			t.Errorf("served by %+v, want the idle instance", st.Instances[0])
		}
		if j := w.awaitJobs(job, 10*time.Minute); j[0].Conclusion != "success" {
			t.Errorf("the job ended with %s", j[0].Conclusion)
		}
		w.checkNoneEnded()
	}))
}

// Gates that a reload lowers do not reject an instance that boots, or is cleaned, by longer ones.
func TestRenew_LoweredGates_SpareOldBoots_Review_S9(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		w.Boot = time.Minute
		op, _ := w.operator("c1", reconciler.Options{})
		w.submit(spec("100", 2))
		w.await(30*time.Second, "both boot", func() bool { return w.in(statemachine.Created) == 2 })
		w.renewed(op, func(c *reconciler.Config) {
			c.Limits.CreateGate, c.Limits.Handshake, c.Limits.ClaimGate = 10*time.Second, time.Millisecond, 5*time.Second
		})
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "both pooled", func() bool { return w.pooled() == 2 })
		w.checkNoneEnded()
		w.launched(2)
	}))
}

// A request that is Ready, and named no runtime, keeps the end that it was promised when a reload lowers limits.running.
func TestRenew_LoweredRunning_KeepsWhatWasPromised_Review_C14(t *testing.T) {
	t.Run("Story", story(func(t *testing.T, w *world) {
		w.Waive(sim.InTime, sim.Needed) // the laws know no default runtime
		w.Configure(func(c *reconciler.Config) { c.DefaultMaxRuntime = 2 * time.Hour })
		op, _ := w.operator("c1", reconciler.Options{})
		st := w.serve(spec("100", 2, lasting(0)), time.Minute)
		w.renewed(op, func(c *reconciler.Config) { c.DefaultMaxRuntime = 5 * time.Minute })
		time.Sleep(20 * time.Minute)
		w.Crash(st.Instances[0].InstanceID)
		w.await(5*time.Minute, "its seat is filled again", func() bool {
			return w.in(statemachine.Running) == 2 && w.instance(st.Instances[0].InstanceID).State == statemachine.Terminated
		})
		if got := w.status("100"); got.Phase != statemachine.Ready || !got.EndsAt.Equal(store.At(st.ReadyAt.Add(2*time.Hour))) {
			t.Errorf("request 100 is %s, to end at %s; want Ready, to end at %s", got.Phase, got.EndsAt, st.ReadyAt.Add(2*time.Hour))
		}
	}))
}
