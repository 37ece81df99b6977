package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H52: machines whose clocks are a minute off live like all others: they are handed over, reused and
// pooled, none is lost, and no alarm is raised.
func TestClocks_AMinuteOff_H52(t *testing.T) {
	for name, skew := range map[string]time.Duration{"Ahead": time.Minute, "Behind": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Skew = skew
				w.controller("c1", nil)
				w.submit(spec("100", 6))
				w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
				w.awaitJobs(w.jobs("100", 6, 30), 2*time.Minute)
				w.release("100", 1, store.Drain)
				w.await(time.Minute, "pooled", func() bool { return w.pooled() == 6 })
				time.Sleep(2 * time.Minute)
				w.submit(spec("200", 6))
				if took := w.await(20*time.Second, "ready", func() bool { return w.status("200").Phase == statemachine.Ready }); took > 10*time.Second {
					t.Errorf("warm start took %s", took)
				}
				time.Sleep(2 * time.Minute)
				if n := w.in(statemachine.Running); n != 6 {
					t.Errorf("%d run, want 6", n)
				}
				w.release("200", 1, store.Drain)
				w.await(time.Minute, "pooled", func() bool { return w.pooled() == 6 })
				if n := w.Fleet.Launched(); n != 6 {
					t.Errorf("launched %d, want 6", n)
				}
				if alarms := w.alarms.raised(); len(alarms) > 0 {
					t.Errorf("alarms: %v", alarms)
				}
			})
		})
	}
}
