package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// deadline is the instant at which the agent must halt the machine.
func (w *world) deadline() time.Time {
	w.t.Helper()
	return w.in().Threshold.Add(w.limits.AgentGrace)
}

// wantHaltAt fails unless the machine is halted at an instant, and not a tick earlier, because its threshold passed.
func (w *world) wantHaltAt(end time.Time) {
	w.t.Helper()
	sleepTo(end.Add(-1))
	w.wantOn()
	time.Sleep(1)
	w.wantHalt("threshold passed")
}

// wantEnded fails unless Run returns soon after the machine was halted.
func (w *world) wantEnded() {
	w.t.Helper()
	time.Sleep(6 * time.Second)
	synctest.Wait()
	if len(w.ended) != 1 {
		w.t.Error("Run does not return although the machine was halted")
	}
}

// sleepTo sleeps until t.
func sleepTo(t time.Time) { time.Sleep(time.Until(t)) }

// S21 S30 S31 S32: with no one writing any more, the machine goes off at threshold + grace, not a
// tick earlier, whatever its state.
func TestDeadman_ThresholdAndGrace_S21_S30_S31_S32(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reach func(w *world)
	}{
		{"Created", func(w *world) { w.launch("a"); w.boot() }},
		{"Running", func(w *world) { w.online(store.JIT).StartJob() }},
		{"Idle", func(w *world) { w.online(store.JIT); w.release(store.ReleaseDrain) }},
		{"Claimed", func(w *world) {
			w.online(store.JIT)
			w.release(store.ReleaseDrain)
			time.Sleep(5 * time.Second)
			w.claim("b", store.JIT)
		}},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			w.options.IdlePoll = time.Second
			tt.reach(w)
			w.wantHaltAt(w.deadline())
		}))
	}
}

// S30: a deadline extended in time prevents it; the new one holds.
func TestDeadman_Extended_S30(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT) // now running: 30 min instead of 10
		sleepTo(w.in().CreatedAt.Add(w.limits.Created + w.limits.AgentGrace + time.Minute))
		w.wantOn()
		sleepTo(w.deadline())
		w.wantHalt("threshold passed")
	})
}

// S30: so does one that is extended while the state stays.
func TestDeadman_ExtendedInItsState_S30(t *testing.T) {
	inBubble(t, func(w *world) {
		w.launch("a")
		w.boot()
		time.Sleep(5 * time.Minute)
		first := w.deadline()
		w.do(store.Transition{Event: statemachine.Renewed})
		sleepTo(first.Add(time.Minute))
		w.wantOn()
		sleepTo(w.deadline())
		w.wantHalt("threshold passed")
	})
}

// H51: the store cannot be reached past the last known threshold.
func TestDeadman_StoreUnreachable_H51(t *testing.T) {
	for _, tt := range []struct {
		name string
		hook func(context.Context, call) verdict
	}{
		{"Errors", func(context.Context, call) verdict { return down }},
		{"Hangs", func(ctx context.Context, _ call) verdict { <-ctx.Done(); return down }},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			w.online(store.JIT).StartJob()
			time.Sleep(3 * time.Second)
			end := w.deadline()
			w.table.set(tt.hook)
			w.do(store.Transition{Event: statemachine.Released, Release: store.ReleaseDrain}) // it will never know
			w.wantHaltAt(end)
		}))
	}
}

// A store call that does not even obey its context stops neither the timer nor, in the end, Run.
func TestDeadman_StoreIgnoresContext_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		stuck := make(chan struct{})
		w.online(store.JIT)
		time.Sleep(3 * time.Second)
		w.table.set(func(context.Context, call) verdict { <-stuck; return down })
		w.wantHaltAt(w.deadline())
		w.wantEnded()
		close(stuck)
	})
}

// S20 H01 H03: without a record the machine goes off at the boot deadline.
func TestDeadman_NoRecord_BootDeadline_S20_H01_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.BootDeadline = 3 * time.Minute
		w.boot()
		time.Sleep(2 * time.Minute)
		w.restart() // counts from the first start
		time.Sleep(time.Minute - 1)
		w.wantOn()
		time.Sleep(1)
		w.wantHalt("no record by the boot deadline")
	})
}

// H03: user code that hangs stops nothing, and registers nothing.
func TestDeadman_ScriptHangs_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.Script = scriptFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		w.launch("a")
		w.boot()
		w.wantHaltAt(w.deadline())
	})
}

// H03: neither does a runner whose start hangs and ignores its context.
func TestDeadman_RunnerStartHangs_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		stuck := make(chan struct{})
		w.runner.StartFunc = func(context.Context, store.Registration, string) error { <-stuck; return errors.New("stuck") }
		w.begin(store.JIT)
		w.wantHaltAt(w.deadline())
		w.wantEnded()
		close(stuck)
	})
}

// A listener whose start ends after the machine was halted is killed.
func TestDeadman_ListenerStartedMeanwhile_Killed(t *testing.T) {
	inBubble(t, func(w *world) {
		stuck := make(chan struct{})
		w.runner.StartFunc = func(context.Context, store.Registration, string) error { <-stuck; return nil }
		w.begin(store.JIT)
		sleepTo(w.deadline())
		w.wantHalt("threshold passed")
		close(stuck)
		w.stop()
		if n := len(w.runner.Alive()); n != 0 {
			t.Errorf("%d listeners live on a halted machine", n)
		}
	})
}

// S12: terminated is the order to die, also in the middle of a job or of the script.
func TestAgent_Terminated_Halts_S12(t *testing.T) {
	inBubble(t, func(w *world) {
		w.machine.HaltFunc = func(context.Context, string) error {
			if n := len(w.runner.Alive()); n != 0 {
				t.Errorf("%d listeners live when the power goes", n)
			}
			return nil
		}
		w.online(store.JIT).StartJob()
		w.do(store.Transition{Event: statemachine.Expired})
		time.Sleep(3 * time.Second)
		w.wantHalt("record says terminated")
	})
	inBubble(t, func(w *world) {
		w.options.Script = scriptFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		w.launch("a")
		w.boot()
		time.Sleep(time.Minute)
		w.do(store.Transition{Event: statemachine.Rejected})
		time.Sleep(3 * time.Second)
		w.wantHalt("record says terminated")
	})
}

// S12 H51: a record that is gone after it was seen is the order to die; one that an eventual read
// merely does not show is not.
func TestAgent_RecordGone_Halts_S12_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		w.table.setFor(func(c call) bool { return !c.put && c.c == store.Eventual }, always(absent))
		time.Sleep(time.Minute)
		w.wantOn()
		w.table.Erase(store.InstanceKey(self, store.KindInstance))
		time.Sleep(3 * time.Second)
		w.wantHalt("record is gone")
	})
}

// After its own restart an agent still knows that there was a record, and its threshold.
func TestAgent_RestartedWithoutStore_KeepsThreshold_H49_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		time.Sleep(3 * time.Second)
		end := w.deadline()
		w.table.set(func(context.Context, call) verdict { return down })
		w.restart()
		w.wantHaltAt(end)
	})
}

// A power-off that fails is tried again.
func TestDeadman_HaltFails_TriedAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		tries := 0
		w.machine.HaltFunc = func(context.Context, string) error {
			if tries++; tries < 4 {
				return errors.New("poweroff: not permitted")
			}
			return nil
		}
		w.launch("a")
		w.boot()
		sleepTo(w.deadline().Add(10 * time.Second))
		synctest.Wait()
		if tries != 4 {
			t.Errorf("%d calls of Halt, want 4: until one succeeds", tries)
		}
	})
}
