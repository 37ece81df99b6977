package reconciler_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Invariant 6: while GitHub refuses listeners, a machine whose role says that its own is online and at work proves nothing
// against the others: GitHub itself knows of no such runner.
func TestForgedSignal_OfBeingOnline_EndsNoOther(t *testing.T) {
	takesLong(t)
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 3)
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		w.submit(patient("200", 2))
		time.Sleep(20 * time.Second)
		w.submit(patient("300", 2)) // which is not handed over, for want of the other
		w.await(time.Minute, "the third is claimed", func() bool { return w.in(statemachine.Claimed) == 3 })
		var liar store.InstanceID
		for id, in := range w.Instances() {
			if in.RunID == "300" && in.State == statemachine.Claimed {
				liar = id
			}
		}
		stop := w.forge(liar, func(in store.Instance) (store.Beat, store.SignalValue) {
			return store.Beat{Assignment: in.Assignment, Runner: "busy", Busy: true},
				store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
		})
		time.Sleep(3 * time.Minute)
		for id, in := range w.Instances() {
			if id != liar && in.State == statemachine.Terminated {
				t.Errorf("%s ended: %s", id, in.Reason)
			}
		}
		if _, err := w.Store.Release(t.Context(), "300", 1, store.ReleaseDrain); err != nil {
			t.Fatal(err)
		}
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.NoTrouble, 0)
		w.awaitPhase("200", 1, statemachine.Ready, 35*time.Second)
		stop()
	})
}

// forge takes a machine over: its agent is stopped, and the holder of its role writes what an agent may
// write every 100 ms, until stop is called. say makes the report from what the record says.
func (w *world) forge(id store.InstanceID, say func(store.Instance) (store.Beat, store.SignalValue)) (stop func()) {
	w.t.Helper()
	w.Hang(id)
	ctx := w.t.Context()
	role := store.New(w.Under) // not held to the laws of agents
	principal := w.instance(id).Principal
	stopped := make(chan struct{})
	w.Go(func(ended <-chan struct{}) {
		for {
			in, err := role.Instance(ctx, store.Consistent, principal)
			if err == nil {
				beat, report := say(in)
				_ = role.Beat(ctx, principal, beat, w.Clock.Now())
				_ = role.Signal(ctx, principal, report, w.Clock.Now())
			}
			select {
			case <-stopped:
				return
			case <-ended:
				return
			case <-w.Clock.After(100 * time.Millisecond):
			}
		}
	})
	return func() { close(stopped); synctest.Wait() }
}

// next is what an agent says whose runner is used up. serial 0: that of its record.
func next(serial int64) func(store.Instance) (store.Beat, store.SignalValue) {
	return func(in store.Instance) (store.Beat, store.SignalValue) {
		report := store.SignalValue{Signal: store.RegNext, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
		if serial != 0 {
			report.Serial = serial
		}
		return store.Beat{Assignment: in.Assignment, Runner: "exited"}, report
	}
}

func registrations(w *world) int { return w.Hub.Calls()[githubsim.CallJIT] }

// A serial that was never given asks for nothing.
func TestForgedSignal_OfAFutureSerial_RegistersNothing(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 1), time.Minute)
		before := registrations(w)
		stop := w.forge(st.Instances[0].InstanceID, next(math.MaxInt64))
		time.Sleep(5 * time.Minute)
		stop()
		if n := registrations(w) - before; n != 0 {
			t.Errorf("%d registrations for a forged serial, want none", n)
		}
		w.release("100", 1, store.ReleaseDrain)
	})
}

// A machine that asks again and again without running a job gets a few registrations and is ended; its seat is
// filled again.
func TestForgedSignal_OfEachSerial_EndsTheMachine(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), story(func(t *testing.T, w *world) {
			w.Configure(func(c *reconciler.Config) { c.Registration = mode })
			w.Waive("asked for more registrations than it ran jobs")
			w.controller("c1", nil)
			st := w.serve(spec("100", 1), time.Minute)
			id := st.Instances[0].InstanceID
			before := w.instance(id).Registration.Serial
			stop := w.forge(id, next(0))
			w.await(2*time.Minute, "the machine is ended", func() bool { return w.instance(id).State == statemachine.Terminated })
			stop()
			if n := w.instance(id).Registration.Serial - before; n > 8 {
				t.Errorf("%d registrations without a job, want 5 and one each for three more tries", n)
			}
			w.await(2*time.Minute, "its seat is filled again", func() bool {
				seats := w.status("100").Instances
				return len(seats) == 1 && seats[0].InstanceID != id
			})
			w.release("100", 1, store.ReleaseDrain)
		}))
	}
}

// Jobs that are shorter than the allowance get a runner each, and their machine stays.
func TestAllowance_ShortJobs_KeepTheirMachine(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.serve(spec("100", 1), time.Minute)
		began := w.Clock.Now()
		w.awaitJobs(w.jobs("100", 40, 1), 10*time.Minute)
		if took := w.Clock.Since(began); took > 40*6*time.Second {
			t.Errorf("40 jobs of a second took %s: the allowance held them up", took)
		}
		w.checkNoneEnded()
		w.release("100", 1, store.ReleaseDrain)
	})
}

// The id in a heartbeat names nobody's runner but the machine's own, which is deleted by its name.
func TestForgedHeartbeat_OfAnotherRunner_DeletesOnlyItsOwn(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Registration = store.Token })
		token, err := w.Hub.RegistrationToken(t.Context())
		if err != nil {
			t.Fatalf("RegistrationToken() error = %v", err)
		}
		foreign, err := w.Hub.Register(t.Context(), token.Value, githubsim.RegisterRequest{Name: "production-deployer", Labels: []string{"deploy"}})
		if err != nil {
			t.Fatalf("Register() error = %v", err)
		}
		w.controller("c1", nil)
		st := w.serve(spec("100", 1), time.Minute)
		in := w.instance(st.Instances[0].InstanceID)
		stop := w.forge(in.ID, func(in store.Instance) (store.Beat, store.SignalValue) {
			return store.Beat{Assignment: in.Assignment, Runner: "online", RunnerID: foreign.RunnerID},
				store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
		})
		time.Sleep(time.Minute)
		w.release("100", 1, store.ReleaseDrain)
		named := func(name string) bool {
			return slices.ContainsFunc(w.Hub.Registered(), func(r githubapi.Runner) bool { return r.Name == name })
		}
		w.await(time.Minute, "its own runner is deleted", func() bool { return !named(in.Registration.Name) })
		stop()
		if !named("production-deployer") {
			t.Error("a machine made the controller delete a runner that is none of ours")
		}
	})
}

// GitHub removes a just-in-time runner that idles (actions/runner#4726): while the run owns the machine the
// next registration is made, under another name, so that a job that comes late is served, and the
// machine neither ends nor changes hands (H37, H71).
func TestRegistration_IdleLapse_IsReplaced_H71(t *testing.T) {
	runScript(t, sim.Script{JITLapse: 3 * time.Minute}, inMemory, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		st := w.serve(spec("100", 2), time.Minute)
		time.Sleep(15 * time.Minute)
		jobs := w.awaitJobs(w.jobs("100", 2, 30), 2*time.Minute)
		for _, j := range jobs {
			if j.StartedAt.Sub(j.QueuedAt) > 30*time.Second {
				t.Errorf("job %s waited %s for a runner", j.ID, j.StartedAt.Sub(j.QueuedAt))
			}
			if !ids(st)[store.InstanceID(j.InstanceID)] {
				t.Errorf("job %s ran on %s, which is not of the run", j.ID, j.InstanceID)
			}
		}
		names := map[string]int{}
		for _, r := range w.Hub.Registrations() {
			names[r.Name]++
		}
		if n := len(names); n < 8 || n > 16 {
			t.Errorf("%d registrations in 15 min, want about one per machine and 3 min", n)
		}
		for name, n := range names {
			if n > 1 {
				t.Errorf("name %s was used %d times", name, n)
			}
		}
		w.launched(2)
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		w.checkNoneEnded()
	})
}

// H43: no registration is readable in the table, of a cold or a warm machine and in either mode. The laws of each world hold
// every write to it; here that a job's end, or a forged key, changes nothing about whose key it is.
func TestSealedRegistration_KeyIsPinned_H43(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), story(func(t *testing.T, w *world) {
			w.Configure(func(c *reconciler.Config) { c.Registration = mode })
			w.Waive("lost the key its registrations are sealed to")
			w.controller("c1", nil)
			id := w.warm("100", 1).Instances[0].InstanceID
			pinned := w.instance(id).SealKey
			if pinned == "" {
				t.Fatal("the machine's key is not in its record")
			}
			if st := w.serve(spec("200", 1), time.Minute); st.Instances[0].InstanceID != id {
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
			w.release("200", 1, store.ReleaseDrain)
		}))
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
		id := w.warm("100", 1).Instances[0].InstanceID
		w.serve(spec("200", 1), time.Minute)
		w.awaitJobs(w.jobs("200", 2, 2), time.Minute)
		if in := w.instance(id); in.SealKey != "" || in.State != statemachine.Running {
			t.Errorf("%s with key %q, want it running without", in.State, in.SealKey)
		}
		w.release("200", 1, store.ReleaseDrain)
	})
}

// H43: a registration is cleared once it is used: by the handover, in a write that is made anyway, or
// soon after its listener is online where others of the request are late.
func TestRegistration_ClearedOnceUsed_H43(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 1), time.Minute)
		id := st.Instances[0].InstanceID
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		pooled := w.Instances()[id]

		w.serve(spec("200", 1), time.Minute)
		in := w.Instances()[id]
		if in.Registration.Secret != "" {
			t.Error("handed over with its registration")
		}
		if writes := in.Version - pooled.Version; writes != 3 {
			t.Errorf("%d writes from idle to running, want 3: claim, registration, handover", writes)
		}
		w.release("200", 1, store.ReleaseDrain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })

		w.Boot = time.Minute
		w.submit(spec("300", 2)) // the second boots for long
		time.Sleep(2*w.Config().HotPoll + time.Second)
		in = w.Instances()[id]
		if in.State != statemachine.Claimed || in.RunID != "300" || in.Registration.Assignment != in.Assignment || in.Registration.Secret != "" {
			t.Errorf("the early one is %s for %q, registered for assignment %d of %d, with secret: %v; want it claimed, registered, and without",
				in.State, in.RunID, in.Registration.Assignment, in.Assignment, in.Registration.Secret != "")
		}
		w.awaitPhase("300", 1, statemachine.Ready, 3*time.Minute)
		w.release("300", 1, store.ReleaseDrain)
	})
}
