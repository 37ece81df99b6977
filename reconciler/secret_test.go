package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H43: a registration is cleared once it is used: by the handover, in a write that is made anyway, or
// soon after its listener is online where others of the request are late.
func TestRegistration_ClearedOnceUsed_H43(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		id := st.Instances[0].InstanceID
		w.release("100", 1, store.Drain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		pooled := w.Instances()[id]

		w.submit(spec("200", 1))
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		in := w.Instances()[id]
		if in.Registration.Secret != "" {
			t.Error("handed over with its registration")
		}
		if writes := in.Version - pooled.Version; writes != 3 {
			t.Errorf("%d writes from idle to running, want 3: claim, registration, handover", writes)
		}
		w.release("200", 1, store.Drain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })

		w.Boot = time.Minute
		w.submit(spec("300", 2)) // the second boots for long
		time.Sleep(2*w.Config.HotPoll + time.Second)
		in = w.Instances()[id]
		if in.State != statemachine.Claimed || in.RunID != "300" || in.Registration.Assignment != in.Assignment || in.Registration.Secret != "" {
			t.Errorf("the early one is %s for %q, registered for assignment %d of %d, with secret: %v; want it claimed, registered, and without",
				in.State, in.RunID, in.Registration.Assignment, in.Assignment, in.Registration.Secret != "")
		}
		w.awaitPhase("300", 1, statemachine.Ready, 3*time.Minute)
		w.release("300", 1, store.Drain)
	})
}
