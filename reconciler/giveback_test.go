package reconciler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S15 S86 H38: a run is over while its machine registers a runner for it, at whichever moment. Jobs of the run that wait
// run there as long as it is the run's machine, or nowhere, and no runner is left at GitHub, without the sweep.
func TestGiveBack_WhileItsRunnerRegisters_S15_S86_H38(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		for step := range 20 {
			late := time.Duration(step) * 100 * time.Millisecond
			t.Run(fmt.Sprintf("%s/%s", mode, late), func(t *testing.T) {
				run(t, func(t *testing.T, w *world) {
					w.Config.Registration, w.Config.Runners = mode, 24*time.Hour
					w.IdlePoll = time.Second
					defer w.controller("c1", nil)()
					w.warm("100", 1, nil)
					w.Hub.SetLatency(githubsim.Latency{API: 300 * time.Millisecond, Session: 100 * time.Millisecond})
					w.jobs("200", 3, 5)
					defer w.submit(spec("200", 1))()
					w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
					time.Sleep(late)
					w.release("200", 1, store.Drain)
					w.awaitPhase("200", 1, statemachine.ReleasedPhase, 2*time.Minute)
					w.await(time.Minute, "pooled again", func() bool { return w.pooled() == 1 })
					w.checkDrained(20 * time.Minute)
				})
			})
		}
	}
}

// H31 H38: a run is over, released or failed, before it was Ready, while one of its jobs runs for longer than a claim may take:
// the job comes to its end, and the machine goes back then.
func TestGiveBack_BeforeReady_WaitsForALongJob_H31_H38(t *testing.T) {
	for _, how := range []statemachine.Phase{statemachine.ReleasedPhase, statemachine.Failed} {
		t.Run(string(how), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Fleet.SetCapacity(fleet.Slot{}, 1)
				defer w.controller("c1", nil)()
				w.warm("100", 1, nil)
				r := spec("200", 2) // there is but one
				r.Timeout = store.SecondsOf(2 * time.Minute)
				defer w.submit(r)()
				job := w.jobs("200", 1, (20 * time.Minute).Seconds())
				w.await(time.Minute, "the job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
				if how == statemachine.ReleasedPhase {
					w.release("200", 1, store.Drain)
				}
				w.awaitJobs(job, 25*time.Minute)
				w.awaitPhase("200", 1, how, time.Minute)
				w.await(time.Minute, "pooled again", func() bool { return w.pooled() == 1 })
			})
		})
	}
}

// S15 H25: an agent that cannot register, and tries again all the time, keeps its machine from the pool until the last minute of its
// claim, at a few calls of GitHub, and no longer.
func TestGiveBack_RegisteringForLong_GoesBackInTime_S15_H25(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Registration, w.Config.Runners = store.Token, 24*time.Hour
		defer w.controller("c1", nil)()
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallRegister}})
		defer w.submit(spec("200", 1))()
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		time.Sleep(10 * time.Second)
		asked := w.Hub.Calls()[githubsim.CallList]
		w.release("200", 1, store.Drain)
		took := w.await(w.Config.Limits.Claimed, "idle", func() bool { return w.in(statemachine.Idle) == 1 })
		if took < w.Config.Limits.Claimed-2*time.Minute {
			t.Errorf("idle after %s, while its agent may register any moment", took)
		}
		if n := w.Hub.Calls()[githubsim.CallList] - asked; n > 20 {
			t.Errorf("GitHub was asked for the runner %d times meanwhile", n)
		}
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		if in := w.instance(id); in.State != statemachine.Idle {
			t.Errorf("%s is %s, want idle again", id, in.State)
		}
	})
}

// dawdling is a script that takes its time.
type dawdling struct{ takes time.Duration }

func (d dawdling) Run(ctx context.Context) error {
	select {
	case <-time.After(d.takes):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// An order to go ends a new machine at once whose script still runs, though it has a token already: no runner can come yet.
func TestDrain_WhileTheScriptRuns_EndsAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Registration, w.Script = store.Token, dawdling{2 * time.Minute}
		defer w.controller("c1", nil)()
		defer w.submit(spec("100", 1))()
		w.await(time.Minute, "created, with a token", func() bool {
			for _, in := range w.Instances() {
				if in.Registration.Serial > 0 {
					return true
				}
			}
			return false
		})
		if err := w.Store.OrderDrain(t.Context(), store.DrainOrder{ID: "all", CreatedAt: store.At(w.Clock.Now()), ResourceClass: "small"}); err != nil {
			t.Fatal(err)
		}
		w.await(10*time.Second, "the first is ended", func() bool { return w.in(statemachine.Terminated) == 1 })
	})
}
