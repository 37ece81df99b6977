package reconciler_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// told keeps what a Tracer is told.
type told struct {
	mu  sync.Mutex
	all []string
}

func (o *told) Answered(r *store.RunRequest, st store.RunStatus, instances []store.Instance) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := fmt.Sprintf("%s %d %s", r.ID, st.Attempt, st.Phase)
	for _, in := range instances {
		line += fmt.Sprintf(" %s %s", in.ID, in.State)
	}
	o.all = append(o.all, line)
}

// Of each attempt a tracer is told once that it is Ready and once that it is over, with the machines that were lost too,
// also where one controller follows another meanwhile.
func TestTracer_IsToldOnceAcrossFailOver(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		o := &told{}
		stop := w.controllerWith("c1", reconciler.Options{Telemetry: reconciler.Telemetry{Tracer: o}})
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		stop()
		stop = w.controllerWith("c2", reconciler.Options{Telemetry: reconciler.Telemetry{Tracer: o}})
		lost := st.Instances[0].InstanceID
		w.Crash(lost)
		w.await(3*time.Minute, "its seat is filled again", func() bool {
			st = w.status("100")
			return len(st.Instances) == 1 && st.Instances[0].InstanceID != lost
		})
		stop()
		defer w.controllerWith("c3", reconciler.Options{Telemetry: reconciler.Telemetry{Tracer: o}})()
		w.give("100", 1, store.ReleaseDrain, 3*time.Minute)
		want := []string{
			fmt.Sprintf("100 1 Ready %s running", lost),
			fmt.Sprintf("100 1 Released %s terminated %s idle", lost, st.Instances[0].InstanceID),
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if !slices.Equal(o.all, want) {
			t.Errorf("the tracer was told %q, want %q", o.all, want)
		}
	})
}
