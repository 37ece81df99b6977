package reconciler_test

import (
	"maps"
	"strings"
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
		w.Config.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 16384}}
		stop := w.controller("c1", nil)
		if s := w.warm("100", 1, nil).Instances[0]; s.InstanceType != "r6i.large" {
			t.Errorf("got %+v for 2 vCPUs and 16 GiB, want an r6i.large", s)
		}
		stop()
		w.Config.Classes = map[string]reconciler.Class{"small": {CPU: 4, Mem: 8192}}
		w.controller("c2", nil)
		w.submit(spec("200", 1))
		if s := w.awaitPhase("200", 1, statemachine.Ready, time.Minute).Instances[0]; s.Warm || s.InstanceType != "c6i.xlarge" {
			t.Errorf("got %+v for 4 vCPUs and 8 GiB, want a new c6i.xlarge", s)
		}
	})
}

// H15: a class that is no longer configured: what is idle of it goes, a run keeps what it has to its end and loses a seat for
// good, what waits fails with the class's name, and another class is served as ever.
func TestClasses_RemovedOne_StopsNothing_H15(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.submit(spec("200", 3))
		runs := w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		job := w.jobs("200", 2, 180)
		w.await(10*time.Second, "jobs run", func() bool { j, _ := w.Hub.Job(job[1]); return j.State == githubsim.Running })
		other := w.warm("300", 1, nil).Instances[0].InstanceID
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.submit(spec("400", 2))
		w.await(10*time.Second, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		stop()

		delete(w.Config.Classes, "small")
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
		large := spec("500", 1)
		large.ResourceClass = "large"
		w.submit(large)
		w.awaitPhase("500", 1, statemachine.Ready, time.Minute)
		w.release("200", 1, store.Drain)
		w.awaitPhase("200", 1, statemachine.ReleasedPhase, time.Minute)
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
