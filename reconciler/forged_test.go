package reconciler_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// forge takes a machine over: its agent is stopped, and whoever holds its role writes what an agent may
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
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		before := registrations(w)
		stop := w.forge(st.Instances[0].InstanceID, next(math.MaxInt64))
		time.Sleep(5 * time.Minute)
		stop()
		if n := registrations(w) - before; n != 0 {
			t.Errorf("%d registrations for a forged serial, want none", n)
		}
		w.release("100", 1, store.Drain)
	})
}

// A machine that asks again and again without running a job gets a few registrations and is ended; its seat is
// filled again.
func TestForgedSignal_OfEachSerial_EndsTheMachine(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Config.Registration = mode
				w.Waive("asked for more registrations than it ran jobs")
				w.controller("c1", nil)
				w.submit(spec("100", 1))
				st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
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
				w.release("100", 1, store.Drain)
			})
		})
	}
}

// Jobs that are shorter than the allowance get a runner each, and their machine stays.
func TestAllowance_ShortJobs_KeepTheirMachine(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		began := w.Clock.Now()
		w.awaitJobs(w.jobs("100", 40, 1), 10*time.Minute)
		if took := w.Clock.Since(began); took > 40*6*time.Second {
			t.Errorf("40 jobs of a second took %s: the allowance held them up", took)
		}
		w.checkNoneEnded()
		w.release("100", 1, store.Drain)
	})
}

// The id in a heartbeat names nobody's runner but the machine's own, which is deleted by its name.
func TestForgedHeartbeat_OfAnotherRunner_DeletesOnlyItsOwn(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Registration = store.Token
		token, err := w.Hub.RegistrationToken(t.Context())
		if err != nil {
			t.Fatalf("RegistrationToken() error = %v", err)
		}
		foreign, err := w.Hub.Register(t.Context(), token.Value, githubsim.RegisterRequest{Name: "production-deployer", Labels: []string{"deploy"}})
		if err != nil {
			t.Fatalf("Register() error = %v", err)
		}
		w.controller("c1", nil)
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		in := w.instance(st.Instances[0].InstanceID)
		stop := w.forge(in.ID, func(in store.Instance) (store.Beat, store.SignalValue) {
			return store.Beat{Assignment: in.Assignment, Runner: "online", RunnerID: foreign.RunnerID},
				store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial}
		})
		time.Sleep(time.Minute)
		w.release("100", 1, store.Drain)
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
