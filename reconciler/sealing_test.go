package reconciler_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H43: no registration is readable in the table, of a cold or a warm machine and in either mode. The auditor of each world
// holds every write to it; here that a job's end, or a forged key, changes nothing about whose key it is.
func TestSealedRegistration_KeyIsPinned_H43(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Config.Registration = mode
				w.Waive("lost the key its registrations are sealed to")
				w.controller("c1", nil)
				id := w.warm("100", 1, nil).Instances[0].InstanceID
				pinned := w.instance(id).SealKey
				if pinned == "" {
					t.Fatal("the machine's key is not in its record")
				}
				w.submit(spec("200", 1))
				if st := w.awaitPhase("200", 1, statemachine.Ready, time.Minute); st.Instances[0].InstanceID != id {
					t.Fatalf("served by %+v, want the warm machine", st.Instances)
				}
				w.awaitJobs(w.jobs("200", 1, 2), time.Minute)
				if got := w.instance(id).SealKey; got != pinned {
					t.Errorf("the key became %q, want %q as at first", got, pinned)
				}
				forged := base64.RawStdEncoding.EncodeToString([]byte("a key that a job has made itself"))
				stop := w.forge(id, func(in store.Instance) (store.Beat, store.SignalValue) {
					return store.Beat{Assignment: in.Assignment, Runner: "none", Key: forged},
						store.SignalValue{Signal: store.RegNext, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
				})
				w.await(time.Minute, "the machine is ended", func() bool { return w.instance(id).State == statemachine.Terminated })
				stop()
				if in := w.instance(id); in.SealKey != pinned || !strings.Contains(in.Reason, "lost the key") {
					t.Errorf("%s with key %q, want the first key kept and the reason said", in.Reason, in.SealKey)
				}
				w.release("200", 1, store.Drain)
			})
		})
	}
}

// keyless takes the key out of what agents write, as an agent of the version before does.
type keyless struct{ store.Table }

func (k keyless) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key.Sort == store.KindHeartbeat {
		var body map[string]any
		if err := json.Unmarshal(item.Attributes, &body); err != nil {
			return err
		}
		delete(body["beat"].(map[string]any), "key")
		item.Attributes, _ = json.Marshal(body) //nolint:errchkjson // what was decoded
	}
	return k.Table.Put(ctx, item, expect)
}

// An agent of the version before, which has no key, is served as before, to its end.
func TestSealedRegistration_AgentWithoutAKey_IsServed(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.AgentTable = keyless{w.Table}
		w.Waive(sim.Secrets)
		w.controller("c1", nil)
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.submit(spec("200", 1))
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.awaitJobs(w.jobs("200", 2, 2), time.Minute)
		if in := w.instance(id); in.SealKey != "" || in.State != statemachine.Running {
			t.Errorf("%s with key %q, want it running without", in.State, in.SealKey)
		}
		w.release("200", 1, store.Drain)
	})
}
