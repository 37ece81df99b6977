package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Invariant 6 H25: a run is given back while GitHub does not answer in time, and so are its machines, late. A leader that comes
// meanwhile does not take them for machines that should be online.
func TestGiveBack_LateAndUnderAnotherLeader_EndsNoMachine_H25(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.warm("100", 2)
		w.Hub.SetLatency(githubsim.Latency{API: 12 * time.Second})
		w.submit(spec("200", 2))
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.release("200", 1, store.ReleaseDrain)
		stop()
		w.controller("c2", nil)
		time.Sleep(2 * time.Minute)
		w.Hub.SetLatency(githubsim.Latency{})
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		w.checkNoneEnded()
	})
}

// stuckHub is a GitHub at which one runner cannot be deleted.
type stuckHub struct {
	reconciler.GitHub
	runner atomic.Int64
	stuck  func(context.Context) error
}

func (h *stuckHub) DeleteRunner(ctx context.Context, id int64) error {
	if id == h.runner.Load() {
		return h.stuck(ctx)
	}
	time.Sleep(time.Second) // so that what happens to the one comes before the others are done
	return h.GitHub.DeleteRunner(ctx, id)
}

// H19: one instance that cannot be given back keeps no other from it: neither one whose job runs on, as the controller
// has known for long, nor one whose runner GitHub does not delete.
func TestRelease_OneCannotGoBack_TheOthersDo_H19(t *testing.T) {
	for name, stuck := range map[string]func(context.Context) error{
		"ItsJobRuns":    nil,
		"GitHubRefuses": func(context.Context) error { return errors.New("502 Bad Gateway") },
		"GitHubHangs":   func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			hub := &stuckHub{GitHub: w.Hub, stuck: stuck}
			defer w.controllerWith("c1", reconciler.Options{GitHub: hub})()
			st := w.serve(spec("100", 3), time.Minute)
			kept := slices.Min(slices.Collect(maps.Keys(ids(st)))) // the first in their order
			if stuck == nil {
				job := w.jobs("100", 1, 600)
				w.await(time.Minute, "one is busy", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
				j, _ := w.Hub.Job(job[0])
				kept = store.InstanceID(j.InstanceID)
				time.Sleep(20 * time.Second) // its heartbeat says so
			} else {
				hub.runner.Store(w.instance(kept).Registration.RunnerID)
			}
			w.release("100", 1, store.ReleaseDrain)
			w.await(10*time.Second, "the other two pooled", func() bool { return w.pooled() == 2 })
			if in := w.instance(kept); in.State != statemachine.Running {
				t.Errorf("%s is %s, want it still to go back", kept, in.State)
			}
			for _, j := range w.Hub.Jobs() {
				if j.State != githubsim.Running {
					t.Errorf("the job is %s", j.State)
				}
			}
		}))
	}
}

// S15 S86 H38: a run is over while its machine registers a runner for it, at whichever moment. Jobs of the run that wait
// run there as long as it is the run's machine, or nowhere, and no runner is left at GitHub, without the sweep.
func TestGiveBack_WhileItsRunnerRegisters_S15_S86_H38(t *testing.T) {
	takesLong(t)
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		for step := range 20 {
			late := time.Duration(step) * 100 * time.Millisecond
			t.Run(fmt.Sprintf("%s/%s", mode, late), story(func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.Registration, c.Runners = mode, 24*time.Hour })
				w.IdlePoll = time.Second
				defer w.controller("c1", nil)()
				w.warm("100", 1)
				w.Hub.SetLatency(githubsim.Latency{API: 300 * time.Millisecond, Session: 100 * time.Millisecond})
				w.jobs("200", 3, 5)
				defer w.submit(spec("200", 1))()
				w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
				time.Sleep(late)
				w.give("200", 1, store.ReleaseDrain, 2*time.Minute)
				w.await(time.Minute, "pooled again", func() bool { return w.pooled() == 1 })
				w.checkDrained(20 * time.Minute)
			}))
		}
	}
}

// H31 H38: a run is over, released or failed, before it was Ready, while one of its jobs runs for longer than a claim may take:
// the job comes to its end, and the machine goes back then.
func TestGiveBack_BeforeReady_WaitsForALongJob_H31_H38(t *testing.T) {
	for _, how := range []statemachine.Phase{statemachine.PhaseReleased, statemachine.Failed} {
		t.Run(string(how), story(func(t *testing.T, w *world) {
			w.Fleet.SetCapacity(fleet.Slot{}, 1)
			defer w.controller("c1", nil)()
			w.warm("100", 1)
			defer w.submit(spec("200", 2, within(2*time.Minute)))() // there is but one
			job := w.jobs("200", 1, (20 * time.Minute).Seconds())
			w.await(time.Minute, "the job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
			if how == statemachine.PhaseReleased {
				w.release("200", 1, store.ReleaseDrain)
			}
			w.awaitJobs(job, 25*time.Minute)
			w.awaitPhase("200", 1, how, time.Minute)
			w.await(time.Minute, "pooled again", func() bool { return w.pooled() == 1 })
		}))
	}
}

// S15 H25: an agent that cannot register, and tries again all the time, keeps its machine from the pool until the last minute of its
// claim, at a few calls of GitHub, and no longer.
func TestGiveBack_RegisteringForLong_GoesBackInTime_S15_H25(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Registration, c.Runners = store.Token, 24*time.Hour })
		defer w.controller("c1", nil)()
		id := w.warm("100", 1).Instances[0].InstanceID
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallRegister}})
		defer w.submit(spec("200", 1))()
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		time.Sleep(10 * time.Second)
		asked := w.Hub.Calls()[githubsim.CallList]
		w.release("200", 1, store.ReleaseDrain)
		took := w.await(w.Config().Limits.Claimed, "idle", func() bool { return w.in(statemachine.Idle) == 1 })
		if took < w.Config().Limits.Claimed-2*time.Minute {
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
		w.Script = dawdling{2 * time.Minute}
		w.Configure(func(c *reconciler.Config) { c.Registration = store.Token })
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
		w.drain(store.DrainOrder{ID: "all", ResourceClass: "small"})
		w.await(10*time.Second, "the first is ended", func() bool { return w.in(statemachine.Terminated) == 1 })
	})
}

// H31: a run's end deletes its runners at GitHub. A listener that was just starting with such a
// registration fails, and its agent says so, before the record says idle. Nobody healthy dies of it,
// not even when the controller changes in between.
func TestRelease_RegistrationFailsBecauseItsRunnerWasDeleted(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		st := w.serve(spec("100", 1), time.Minute)
		job := w.jobs("100", 1, 120)
		w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
		w.release("100", 1, store.ReleaseDrain)
		time.Sleep(5 * time.Second) // of the wait for the job
		in := w.Instances()[st.Instances[0].InstanceID]
		failed := store.SignalValue{
			Signal: store.RegFailed, RunID: "100", Assignment: in.Assignment, Serial: in.Registration.Serial,
			Cause: store.CauseRefused, Detail: "the registration has been deleted",
		}
		if err := w.Store.Signal(t.Context(), in.Principal, failed, w.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		stop()
		defer w.controller("c2", nil)()
		w.await(3*time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		w.launched(1)
	})
}

// H37 S86: a run ends while the next registration of its machine is being made at GitHub: its runner goes
// too, and is not left behind with the run's label.
func TestRelease_WhileARegistrationIsBeingMade_H37(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Runners = 24 * time.Hour }) // the sweep of lost runners is not to help
		defer w.controller("c1", nil)()
		w.serve(spec("100", 1), time.Minute)
		w.Hub.SetLatency(githubsim.Latency{API: 2 * time.Second})
		w.awaitJobs(w.jobs("100", 1, 1), time.Minute)
		w.await(10*time.Second, "the next one is begun", func() bool { return w.Hub.Calls()[githubsim.CallJIT] == 2 })
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		time.Sleep(5 * time.Second)
		if left, err := w.Hub.Runners(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("runners left at GitHub = %+v, %v, want none", left, err)
		}
	})
}

// H31: a machine too many takes no job of the run, and goes to the pool once it has booted.
func TestSurplus_IsPooledUnused(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 1), time.Minute)
		m, _ := w.Fleet.Machine(string(st.Instances[0].InstanceID))
		m.ID, m.Principal = "", ""
		more, _ := w.Fleet.Machine(w.Fleet.Add(m)) // the fleet brought one more than asked for
		w.Waive(sim.Needed)
		w.Start(more)
		jobs := w.jobs("100", 2, 300)
		w.await(3*time.Minute, "the one too many pooled", func() bool { return w.pooled() == 1 })
		for _, j := range w.awaitJobs(jobs, 20*time.Minute) {
			if j.InstanceID == more.ID {
				t.Errorf("job %s ran on %s, which came too many", j.ID, more.ID)
			}
		}
	})
}

// H17: the controller dies half-way through a release, before it could pool a machine that is clean. The next one does,
// although nothing tells of it any more.
func TestRelease_FinishedByTheNextController_H17(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &refusing{Table: w.Table, match: func(in store.Instance) bool { return !in.PooledAt.IsZero() }}
		table.on.Store(true)
		stop := w.controller("c1", table)
		id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "clean", func() bool { return w.signal(id) == store.RemoveOK })
		stop()
		if in := w.instance(id); in.State != statemachine.Idle || w.pooled() != 0 {
			t.Fatalf("%s is %s, %d pooled; want idle and not pooled", id, in.State, w.pooled())
		}
		time.Sleep(10 * time.Second)
		w.controller("c2", nil)
		w.await(10*time.Second, "pooled", func() bool { return w.pooled() == 1 })
		w.await(10*time.Second, "released", func() bool { return w.status("100").Phase == statemachine.PhaseReleased })
	})
}

// H31 H38: release while a job still runs waits for it; now does not.
func TestRelease_WhileAJobRuns(t *testing.T) {
	for _, mode := range []store.ReleaseMode{store.ReleaseDrain, store.ReleaseNow} {
		t.Run(string(mode), storyLed(func(t *testing.T, w *world) {
			w.serve(spec("100", 2), time.Minute)
			job := w.jobs("100", 1, 120)
			w.await(time.Minute, "job runs", func() bool { j, _ := w.Hub.Job(job[0]); return j.State == githubsim.Running })
			time.Sleep(time.Second)
			start := w.Clock.Now()
			w.release("100", 1, mode)
			w.awaitPhase("100", 1, statemachine.PhaseReleased, 3*time.Minute)
			took := w.Clock.Since(start)
			w.await(time.Minute, "both pooled", func() bool { return w.pooled() == 2 })
			j, err := w.Hub.Job(job[0])
			if err != nil {
				t.Fatal(err)
			}
			if mode == store.ReleaseDrain {
				if took < 110*time.Second {
					t.Errorf("released after %s, want the job awaited", took)
				}
			} else if took > 30*time.Second || j.Conclusion == githubsim.Success {
				t.Errorf("released after %s with the job %s, want it cut short", took, j.Conclusion)
			}
		}))
	}
}

// S08 S78: a request that fails with a claimed machine, a new one that is ready and a new one that is not gives the first
// two back through the handshake, ends the third at once, and says how far it came and what went wrong last.
func TestUnsatisfied_GivesBackEndsAndTells_S78(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		claimed := w.warm("100", 1).Instances[0].InstanceID
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
		w.submit(spec("200", 4, within(2*time.Minute)))
		st := w.awaitPhase("200", 1, statemachine.Failed, 3*time.Minute)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "2 of 4 ready") ||
			!strings.Contains(st.Message, "last problem: ") || !strings.Contains(st.Message, "InstanceLimitExceeded") {
			t.Errorf("failed for %s: %q, want how many were ready, and why no more", st.Reason, st.Message)
		}
		w.await(10*time.Second, "the unready one ended", func() bool { return w.instance(unready).State == statemachine.Terminated })
		if in := w.instance(unready); in.Reason != reconciler.ReasonOver {
			t.Errorf("%s ended for %q, want %q", unready, in.Reason, reconciler.ReasonOver)
		}
		w.await(10*time.Second, "the ready ones pooled", func() bool { return w.pooled() == 2 }) // by the laws no sooner than clean
		if in := w.instance(claimed); in.State != statemachine.Idle {
			t.Errorf("%s, which was claimed, is %s", claimed, in.State)
		}
		if n := len(w.Fleet.Alive()); n != 2 {
			t.Errorf("%d machines live, want the ready ones", n)
		}
	})
}
