package reconciler_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S90 H15: what a class means is what the configuration says: it decides what is launched, and after it was changed the
// machines of the old size are not offered for it.
func TestClasses_DriveLaunchingAndMatching_S90(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 16384}} })
		stop := w.controller("c1", nil)
		if s := w.warm("100", 1).Instances[0]; s.InstanceType != "r6i.large" {
			t.Errorf("got %+v for 2 vCPUs and 16 GiB, want an r6i.large", s)
		}
		stop()
		w.Configure(func(c *reconciler.Config) { c.Classes = map[string]reconciler.Class{"small": {CPU: 4, Mem: 8192}} })
		w.controller("c2", nil)
		if s := w.serve(spec("200", 1), time.Minute).Instances[0]; s.Warm || s.InstanceType != "c6i.xlarge" {
			t.Errorf("got %+v for 4 vCPUs and 8 GiB, want a new c6i.xlarge", s)
		}
	})
}

// H15: a class that is no longer configured: what is idle of it goes, a run keeps what it has to its end and loses a seat for
// good, what waits fails with the class's name, and another class is served as ever.
func TestClasses_RemovedOne_StopsNothing_H15(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		runs := w.serve(spec("200", 3), time.Minute)
		job := w.jobs("200", 2, 180)
		w.await(10*time.Second, "jobs run", func() bool { j, _ := w.Hub.Job(job[1]); return j.State == githubsim.Running })
		other := w.warm("300", 1).Instances[0].InstanceID
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.submit(spec("400", 2))
		w.await(10*time.Second, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		stop()

		w.Configure(func(c *reconciler.Config) { c.Classes = map[string]reconciler.Class{"large": c.Classes["large"]} })
		w.Fleet.SetCapacity(fleet.Slot{}, 10)
		defer w.controller("c2", nil)()
		st := w.awaitPhase("400", 1, statemachine.Failed, 10*time.Second)
		if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, `"small"`) {
			t.Errorf("400 failed for %q: %q, want the name of the class that is gone", st.Reason, st.Message)
		}
		w.await(time.Minute, "what 400 had goes", func() bool { return w.instance(other).State == statemachine.Terminated })
		if why := w.instance(other).Reason; why != statemachine.ReasonDismissed {
			t.Errorf("%s ended for %q, want %q", other, why, statemachine.ReasonDismissed)
		}
		for id := range ids(runs) {
			if in := w.instance(id); in.State != statemachine.Running {
				t.Errorf("%s is %s, want what run 200 was given to go on", id, in.State)
			}
		}
		launched := w.Fleet.Launched()
		w.Crash(w.without(ids(runs), job))
		w.awaitJobs(job, 5*time.Minute)
		if st := w.status("200"); st.Phase != statemachine.Ready || w.Fleet.Launched() != launched {
			t.Errorf("200 is %s and %d machines were launched, want it to go on with two", st.Phase, w.Fleet.Launched()-launched)
		}
		w.serve(spec("500", 1, ofClass("large")), time.Minute)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "what 200 had goes", func() bool { return len(w.Fleet.Alive()) == 1 })
	})
}

// without returns one of the instances on which none of the jobs runs.
func (w *world) without(all map[store.InstanceID]bool, jobs []string) store.InstanceID {
	w.t.Helper()
	free := maps.Clone(all)
	for _, id := range jobs {
		j, err := w.Hub.Job(id)
		if err != nil {
			w.t.Fatal(err)
		}
		delete(free, store.InstanceID(j.InstanceID))
	}
	for id := range free {
		return id
	}
	w.t.Fatalf("jobs run on all of %v", all)
	return ""
}

// slowPlan is a fleet that takes 20 s over every plan.
type slowPlan struct {
	fleet.Fleet
	plans atomic.Int64 // begun
}

func (f *slowPlan) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	f.plans.Add(1)
	time.Sleep(20 * time.Second)
	return f.Fleet.Plan(ctx, s)
}

// stalling is a table that answers no read of one item while gate is full.
type stalling struct {
	store.Table
	key  store.Key
	gate chan struct{} // holds one
}

func (s stalling) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if slices.Contains(keys, s.key) {
		s.gate <- struct{}{}
		<-s.gate
	}
	return s.Table.Get(ctx, c, keys...)
}

// S69: a machine is pooled while a launch for a request is being planned, and the request does not come to look at the pool,
// since the store is slow to answer what its record says: nothing is launched for what the pool has by now.
func TestPooled_WhileALaunchIsPlanned_NothingIsLaunched_S69(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := stalling{w.Table, store.RequestKey("200", store.KindRunRequest), make(chan struct{}, 1)}
		slow := &slowPlan{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Table: table, Fleet: slow})()
		id := w.serve(spec("100", 1), 2*time.Minute).Instances[0].InstanceID
		w.submit(spec("200", 1))
		w.await(time.Second, "a second plan begins", func() bool { return slow.plans.Load() == 2 })

		table.gate <- struct{}{}
		if err := w.Store.Notify(t.Context(), "200"); err != nil {
			t.Fatal(err)
		}
		w.release("100", 1, store.ReleaseDrain)
		w.await(15*time.Second, "pooled", func() bool { return w.pooled() == 1 })
		time.Sleep(time.Minute)
		w.launched(1)
		<-table.gate
		if st := w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second); st.Instances[0].InstanceID != id {
			t.Errorf("200 is served by %s, want %s of the pool", st.Instances[0].InstanceID, id)
		}
	})
}

// The caps hold also when requests of different kinds come at the same moment.
func TestCaps_HoldAcrossKinds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 6 })
		defer w.controller("c1", nil)()
		w.submit(spec("100", 5))
		w.submit(spec("200", 5, ofTypes("c6i.*")))
		time.Sleep(time.Minute)
		if n := len(w.Fleet.Alive()); n > 6 {
			t.Errorf("%d machines live under a cap of 6", n)
		}
	})
}

// H56: a new template takes the idle machines of the old one out of the pool: none of them is handed out once that is
// noticed, they go, and so does one that comes back later.
func TestNewTemplate_OldMachinesGo_H56(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		old := ids(w.serve(spec("100", 1), time.Minute))
		for id := range ids(w.warm("150", 2)) {
			old[id] = true
		}
		w.SetTemplate("2", "")
		time.Sleep(w.Config().Sweep + time.Second)
		fresh := w.serve(spec("200", 2), time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(10*time.Second, "the old ones gone", func() bool { return len(w.Fleet.Alive()) == 2 })
		for id := range old {
			if in := w.instance(id); in.State != statemachine.Terminated || in.Reason != statemachine.ReasonDismissed || w.Owners(id) != 1 {
				t.Errorf("%s is %s for %q after %d runs, want it dismissed after one", id, in.State, in.Reason, w.Owners(id))
			}
		}
		for id := range ids(fresh) {
			if m, _ := w.Fleet.Machine(string(id)); old[id] || m.TemplateVersion != "2" {
				t.Errorf("run 200 got %s of template %s, want 2", id, m.TemplateVersion)
			}
		}
	})
}

// H56: the template of a class is that of its machines alone: another's go on serving.
func TestNewTemplate_OfAnotherClass_H56(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		small := ids(w.warm("100", 1))
		large := ids(w.warm("150", 1, ofClass("large")))
		w.SetTemplate("2", "large")
		w.await(w.Config().Sweep+10*time.Second, "the large one gone", func() bool { return len(w.Fleet.Alive()) == 1 })
		for id := range large {
			if in := w.instance(id); in.Reason != statemachine.ReasonDismissed {
				t.Errorf("%s of the class is %s for %q, want it dismissed", id, in.State, in.Reason)
			}
		}
		for id := range ids(w.serve(spec("200", 1), time.Minute)) {
			if !small[id] {
				t.Errorf("run 200 got %s, want the warm one of %v", id, small)
			}
		}
	})
}

// H56: machines that were launched from a new template before the look that would have noticed it are no older ones; they
// say that the others are.
func TestNewTemplate_ItsFirstMachinesStay_H56(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Sweep = time.Hour })
		defer w.controller("c1", nil)()
		old := ids(w.warm("100", 1))
		w.SetTemplate("2", "")
		both := ids(w.serve(spec("200", 2), time.Minute))
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		time.Sleep(10 * time.Second)
		for id := range both {
			in, want := w.instance(id), statemachine.Idle
			if old[id] {
				want = statemachine.Terminated
			}
			if in.State != want {
				t.Errorf("%s, of template %s, is %s for %q, want it %s", id, in.TemplateVersion, in.State, in.Reason, want)
			}
		}
		if w.pooled() != 1 {
			t.Errorf("%d machines are pooled, want the one of template 2", w.pooled())
		}
	})
}

// S51 S73 S75: usage classes are kept apart, and tried in the order of preference.
func TestUsageClassFallback(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot}, 1)
		defer w.controller("c1", nil)()
		st := w.serve(spec("100", 3, ofUsage(store.Spot, store.OnDemand)), 2*time.Minute)
		got := map[string]int{}
		for _, s := range st.Instances {
			got[s.UsageClass]++
		}
		if got[store.Spot] != 1 || got[store.OnDemand] != 2 {
			t.Errorf("got %v, want 1 spot and 2 on-demand", got)
		}
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 3 })
		if st := w.serve(spec("200", 1, ofUsage(store.OnDemand)), time.Minute); st.Instances[0].UsageClass != store.OnDemand {
			t.Errorf("an on-demand request got %+v", st.Instances)
		}
	})
}

// S43 S53 S56 S58 S90: a picky request beside a full pool gets new machines at once.
func TestPickyBesideAFullPool(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		full := w.warm("100", 3, ofTypes("c*"))
		st := w.serve(spec("200", 1, ofTypes("r6i.*")), time.Minute)
		if s := st.Instances[0]; s.Warm || s.InstanceType != "r6i.large" || ids(full)[s.InstanceID] {
			t.Errorf("got %+v, want a new r6i.large", s)
		}
		if s := w.serve(spec("300", 1, ofClass("large")), time.Minute).Instances[0]; s.Warm {
			t.Errorf("a request for class large got %+v of class small", s)
		}
		if n := w.pooled(); n != 3 {
			t.Errorf("%d pooled, want all 3", n)
		}
	})
}
