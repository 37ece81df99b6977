package reconciler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S10: whenever an instance becomes running a runner of its registration, with the run's label and no other, is
// online at GitHub: cold or warm, in either mode, however long a listener takes to come online.
func TestHandover_RunnerIsOnlineUnderTheLabel_S10(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.cfg.Registration = mode
				w.hub.SetLatency(githubsim.Latency{Session: 3 * time.Second})
				given := map[store.InstanceID]int64{} // the assignment in which it was
				table := &refusing{Table: w.table, seen: func(item store.Item) {
					var in store.Instance
					if item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil &&
						in.State == statemachine.Running && given[in.ID] != in.Assignment {
						given[in.ID] = in.Assignment
						w.checkOnline(in)
					}
				}}
				defer w.controller("c1", table)()
				for _, id := range []string{"100", "200"} {
					w.submit(spec(id, 2))
					w.awaitPhase(id, 1, statemachine.Ready, 2*time.Minute)
					w.release(id, 1, store.Drain)
					w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
				}
				table.mu.Lock()
				defer table.mu.Unlock()
				if len(given) != 2 || w.fleet.Launched() != 2 {
					t.Errorf("%d of %d machines were handed over, want the same 2 twice", len(given), w.fleet.Launched())
				}
			})
		})
	}
}

// checkOnline looks for the runner of an instance at GitHub.
func (w *world) checkOnline(in store.Instance) {
	for _, r := range w.hub.Registrations() {
		if r.Name != in.Registration.Name {
			continue
		}
		if !r.Online || len(r.Labels) != 1 || r.Labels[0] != string(in.RunID) {
			w.t.Errorf("%s runs %s with the runner %+v, want one online with that label", in.ID, in.RunID, r)
		}
		return
	}
	w.t.Errorf("%s runs %s without its runner %q at GitHub", in.ID, in.RunID, in.Registration.Name)
}

// S90 H15: what a class means is what the configuration says: it decides what is launched, and after it was changed the
// machines of the old size are not offered for it.
func TestClasses_DriveLaunchingAndMatching_S90(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.cfg.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 16384}}
		stop := w.controller("c1", nil)
		if s := w.warm("100", 1, nil).Instances[0]; s.InstanceType != "r6i.large" {
			t.Errorf("got %+v for 2 vCPUs and 16 GiB, want an r6i.large", s)
		}
		stop()
		w.cfg.Classes = map[string]reconciler.Class{"small": {CPU: 4, Mem: 8192}}
		w.controller("c2", nil)
		w.submit(spec("200", 1))
		if s := w.awaitPhase("200", 1, statemachine.Ready, time.Minute).Instances[0]; s.Warm || s.InstanceType != "c6i.xlarge" {
			t.Errorf("got %+v for 4 vCPUs and 8 GiB, want a new c6i.xlarge", s)
		}
	})
}
