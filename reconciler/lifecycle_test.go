package reconciler_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// jobs queues n jobs of a run and returns their ids.
func (w *world) jobs(run string, n int, seconds float64) []string {
	w.t.Helper()
	var out []string
	for i := range n {
		id := fmt.Sprintf("%s-job-%d-%d", run, len(w.Hub.Jobs()), i)
		if err := w.Hub.Submit(githubsim.Job{ID: id, RunID: run, Label: run, Name: id, Seconds: seconds}); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

// awaitJobs waits until every job is completed and returns who ran it.
func (w *world) awaitJobs(ids []string, limit time.Duration) []githubsim.JobRecord {
	w.t.Helper()
	var out []githubsim.JobRecord
	w.await(limit, "jobs done", func() bool {
		out = nil
		for _, id := range ids {
			j, err := w.Hub.Job(id)
			if err != nil {
				w.t.Fatal(err)
			}
			if j.State != githubsim.Completed {
				return false
			}
			out = append(out, j)
		}
		return true
	})
	return out
}

// S03 S04 S06 S07 S10 S16 S17 S22 S47 S69 S77 S82 S83 S85 H04 H37: the whole life of three machines.
func TestLifecycle_ColdWarmDrained(t *testing.T) {
	t.Run("InMemory", func(t *testing.T) { run(t, lifecycle) })
	t.Run("OnSQLite", func(t *testing.T) { runOn(t, onSQLite, lifecycle) })
}

func lifecycle(t *testing.T, w *world) {
	defer w.controller("c1", nil)()
	w.submit(spec("100", 3))
	cold := w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute)
	if len(cold.Instances) != 3 || cold.Counts.Launched != 3 {
		t.Fatalf("run 100 got %+v", cold)
	}
	for _, j := range w.awaitJobs(w.jobs("100", 3, 5), time.Minute) {
		if j.Conclusion != githubsim.Success || !ids(cold)[store.InstanceID(j.InstanceID)] {
			t.Errorf("job %s: %s on %s, want success on one of %v", j.ID, j.Conclusion, j.InstanceID, ids(cold))
		}
	}
	w.release("100", 1, store.Drain)
	w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
	w.await(30*time.Second, "three pooled", func() bool { return w.pooled() == 3 })

	w.submit(spec("200", 2))
	warm := w.awaitPhase("200", 1, statemachine.Ready, 20*time.Second)
	for _, s := range warm.Instances {
		if !s.Warm || !ids(cold)[s.InstanceID] {
			t.Errorf("seat %+v: want a warm one of %v", s, ids(cold))
		}
	}
	w.awaitJobs(w.jobs("200", 2, 5), time.Minute)
	w.release("200", 1, store.Drain)
	w.awaitPhase("200", 1, statemachine.ReleasedPhase, time.Minute)
	w.await(w.Config.Limits.Idle+w.Config.Sweep, "drained to zero", func() bool { return len(w.Fleet.Alive()) == 0 })
	w.await(time.Minute, "records retired", func() bool {
		for _, in := range w.Instances() {
			if in.State != statemachine.Terminated || in.ExpiresAt.IsZero() || in.RunID != "" || !in.Threshold.IsZero() {
				return false
			}
		}
		return true
	})
	if n := w.Fleet.Launched(); n != 3 {
		t.Errorf("launched %d machines, want 3", n)
	}
	if twice := w.Hub.NamesUsedTwice(); len(twice) > 0 {
		t.Errorf("runner names used twice: %v", twice)
	}
}
