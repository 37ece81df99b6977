package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// kept is what was kept of a machine's output, and what was the case then.
type kept struct {
	mu      sync.Mutex
	reasons []string
	secrets []string
	halts   int // before the last
}

// by makes the agent of w keep its output here.
func (k *kept) by(w *world, err error) {
	w.options.KeepOutput = func(_ context.Context, reason string, secrets []string) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.reasons, k.secrets, k.halts = append(k.reasons, reason), secrets, len(w.machine.Halts())
		return err
	}
}

// want fails unless output was kept for these reasons.
func (k *kept) want(t *testing.T, reasons ...string) {
	t.Helper()
	synctest.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.reasons, reasons) {
		t.Errorf("output was kept for %q, want %q", k.reasons, reasons)
	}
}

func TestKeep_BeforeTheHalt(t *testing.T) {
	inBubble(t, func(w *world) {
		var k kept
		k.by(w, errors.New("disk full")) // has no consequence
		w.online(store.JIT)
		k.want(t)
		w.wantHaltAt(w.deadline())
		k.want(t, "threshold passed")
		if k.halts != 0 || !slices.Equal(k.secrets, []string{"secret"}) {
			t.Errorf("kept after %d halts, with secrets %q", k.halts, k.secrets)
		}
		w.wantEnded()
	})
}

func TestKeep_TerminatedRecordAndNotice(t *testing.T) {
	inBubble(t, func(w *world) {
		var k kept
		k.by(w, nil)
		w.online(store.JIT)
		w.machine.Interrupt()
		time.Sleep(5 * time.Second)
		k.want(t, "interruption notice")
		w.do(store.Transition{Event: statemachine.Lost})
		time.Sleep(5 * time.Second)
		w.wantHalt("record says terminated")
		k.want(t, "interruption notice", "record says terminated")
	})
}

// S39: what a script said is kept before others know that it failed, and end the machine.
func TestKeep_BeforeARejection_S39(t *testing.T) {
	inBubble(t, func(w *world) {
		var k kept
		k.by(w, nil)
		record := w.options.KeepOutput
		w.options.KeepOutput = func(ctx context.Context, reason string, secrets []string) error {
			if said, _ := w.said(); reason == string(store.ScriptFailed) && said.Signal != "" {
				t.Errorf("%s was reported before", said.Signal)
			}
			return record(ctx, reason, secrets)
		}
		w.options.Script = scriptFunc(func(context.Context) error { return errors.New("exit status 7") })
		w.launch("a")
		w.boot()
		w.after(10*time.Second, store.ScriptFailed, "")
		k.want(t, string(store.ScriptFailed))
	})
}

func TestKeep_AgentToldToStop(t *testing.T) {
	inBubble(t, func(w *world) {
		var k kept
		k.by(w, nil)
		w.online(store.JIT)
		w.stop()
		k.want(t, "the agent was told to stop")
	})
}

// H03: storage that hangs delays the power-off by two seconds, however many wait for it, and nothing else.
func TestKeep_Hangs_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		hang := make(chan struct{})
		calls := 0
		w.options.KeepOutput = func(context.Context, string, []string) error { calls++; <-hang; return nil }
		w.online(store.JIT)
		w.machine.Interrupt()
		time.Sleep(10 * time.Second)
		end := w.deadline()
		sleepTo(end.Add(2*time.Second - 1))
		w.wantOn()
		time.Sleep(1)
		w.wantHalt("threshold passed")
		w.wantEnded()
		if calls != 1 {
			t.Errorf("%d calls at once", calls)
		}
		close(hang)
	})
}
