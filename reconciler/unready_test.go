package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S08 S78: a request that fails with a claimed machine, a new one that is ready and a new one that is not gives the first
// two back through the handshake, ends the third at once, and says how far it came and what went wrong last.
func TestUnsatisfied_GivesBackEndsAndTells_S78(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		claimed := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Fleet.SetCapacity(fleet.Slot{}, 3)
		var unready store.InstanceID
		w.Fleet.OnLaunch(func(m fleet.Machine) {
			if unready == "" {
				unready, w.Boot = store.InstanceID(m.ID), time.Hour
			} else {
				w.Boot = 20 * time.Second
			}
			w.Start(m)
		})
		r := spec("200", 4)
		r.Timeout = store.SecondsOf(2 * time.Minute)
		w.submit(r)
		st := w.awaitPhase("200", 1, statemachine.Failed, 3*time.Minute)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "2 of 4 ready") ||
			!strings.Contains(st.Message, "last problem: ") || !strings.Contains(st.Message, "InstanceLimitExceeded") {
			t.Errorf("failed for %s: %q, want how many were ready, and why no more", st.Reason, st.Message)
		}
		w.await(10*time.Second, "the unready one ended", func() bool { return w.instance(unready).State == statemachine.Terminated })
		if in := w.instance(unready); in.Reason != reconciler.ReasonOver {
			t.Errorf("%s ended for %q, want %q", unready, in.Reason, reconciler.ReasonOver)
		}
		w.await(10*time.Second, "the ready ones pooled", func() bool { return w.pooled() == 2 }) // the auditor: no sooner than clean
		if in := w.instance(claimed); in.State != statemachine.Idle {
			t.Errorf("%s, which was claimed, is %s", claimed, in.State)
		}
		if n := len(w.Fleet.Alive()); n != 2 {
			t.Errorf("%d machines live, want the ready ones", n)
		}
	})
}
