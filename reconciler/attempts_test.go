package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H41: an attempt of another class takes the place of one that waits in line. Nothing of the old one
// stays in line: the next request of the old class gets what it waited for.
func TestAttempts_OfAnotherClassLeavesTheLine(t *testing.T) {
	for name, class := range map[string]string{"KnownClass": "large", "UnknownClass": "huge"} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Config.MaxInstancesPerClass = map[string]int{"small": 2}
				w.controller("c1", nil)
				w.submit(spec("50", 1)) // keeps one
				w.awaitPhase("50", 1, statemachine.Ready, time.Minute)
				w.submit(spec("100", 2)) // gets one, waits for the other
				w.await(time.Minute, "one created", func() bool { return w.in(statemachine.Created) == 1 })
				time.Sleep(time.Minute)
				again := spec("100", 1)
				again.Attempt, again.ResourceClass = 2, class
				w.submit(again)
				w.await(time.Minute, "the small one pooled", func() bool { return w.pooled() == 1 })
				w.submit(spec("200", 1))
				w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second)
			})
		})
	}
}

// H36: a release right after the request, in whatever stage it is, overlooks nothing.
func TestRelease_RightAfterTheRequest_H36(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond, time.Second, 20 * time.Second, 21 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.submit(spec("100", 3))
				time.Sleep(after)
				w.release("100", 1, store.Drain)
				w.awaitPhase("100", 1, statemachine.ReleasedPhase, 4*time.Minute)
				for id, in := range w.Instances() {
					if in.State.Owned() {
						t.Errorf("%s is %s after the release", id, in.State)
					}
				}
				w.checkDrained(30 * time.Minute)
			})
		})
	}
}

// H41: an attempt that waits for the job of the one before keeps no machine from others, also under a new leader: there is
// nothing that it could take meanwhile.
func TestAttempts_BlockedKeepsNobodyWaiting_H41(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.MaxInstances = 2
		stop := w.controller("c1", nil)
		w.warm("100", 2, nil)
		w.submit(spec("200", 1))
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		job := w.jobs("200", 1, 300)
		time.Sleep(10 * time.Second)
		again := patient("200", 1)
		again.Attempt = 2
		w.submit(again)
		time.Sleep(10 * time.Second)
		stop()
		w.controller("c2", nil)
		time.Sleep(10 * time.Second)
		w.submit(spec("300", 1))
		if st := w.awaitPhase("300", 1, statemachine.Ready, 30*time.Second); !st.Instances[0].Warm {
			t.Errorf("300 got %+v, want the warm one", st.Instances)
		}
		w.awaitJobs(job, 10*time.Minute)
	})
}
