package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/store"
)

// timers counts the timers it made, and is slow to make one: who does not wait comes first.
type timers struct {
	clock.RealClock
	n atomic.Int32
}

func (c *timers) After(d time.Duration) <-chan time.Time {
	time.Sleep(time.Second)
	c.n.Add(1)
	return c.RealClock.After(d)
}

// later makes the world's agent find its store when connect succeeds.
func (w *world) later(connect func(ctx context.Context) error) {
	s := w.options.Store
	w.options.Store, w.options.Principal = nil, ""
	w.options.Connect = func(ctx context.Context) (*store.Store, store.Principal, error) {
		if err := connect(ctx); err != nil {
			return nil, "", err
		}
		return s, self, nil
	}
}

// S20 H03: while the store cannot be found the dead-man timer runs already.
func TestConnect_Never_BootDeadline_S20_H03(t *testing.T) {
	for name, connect := range map[string]func(context.Context) error{
		"Refused": func(context.Context) error { return errors.New("no identity") },
		"Hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, bubble(func(w *world) {
			w.later(connect)
			w.launch("a")
			w.boot()
			time.Sleep(w.limits.Created - 1)
			w.wantOn()
			time.Sleep(1)
			w.wantHalt("no record by the boot deadline")
		}))
	}
}

// A machine whose identity comes late works like any other from then on.
func TestConnect_Late_Works(t *testing.T) {
	inBubble(t, func(w *world) {
		ready := time.Now().Add(time.Minute)
		w.later(func(context.Context) error {
			if time.Now().Before(ready) {
				return errors.New("no identity yet")
			}
			return nil
		})
		w.begin(store.JIT)
		w.machine.Interrupt() // notice before anyone can be notified
		time.Sleep(59 * time.Second)
		if signal, beat := w.said(); signal.Signal != "" || !beat.UpdatedAt.IsZero() {
			t.Errorf("said %v, %v without a store", signal, beat)
		}
		w.waitFor(store.RegOK)
		if _, beat := w.said(); !beat.Beat.Interrupted {
			t.Errorf("heartbeat = %+v, want the notice", beat)
		}
	})
}

// H51: a restarted agent goes by the threshold it knows until it finds the store again.
func TestConnect_Restarted_KeepsThreshold_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		var refuse atomic.Bool
		w.later(func(context.Context) error {
			if refuse.Load() {
				return errors.New("no identity")
			}
			return nil
		})
		w.online(store.JIT)
		time.Sleep(3 * time.Second)
		end := w.deadline()
		refuse.Store(true)
		w.restart()
		sleepTo(end.Add(-1))
		w.wantOn()
		time.Sleep(1)
		synctest.Wait()
		if got := w.machine.Halts(); len(got) != 1 || got[0] != "threshold passed" {
			t.Errorf("halts = %q, want one: threshold passed", got) // the listener is the machine's to end
		}
	})
}

// H03: what guarded the machine before is ended only when the dead-man timer runs, and for sure.
func TestTakeOver_AfterTimer_Insists_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		clk := &timers{}
		tries := 0
		w.options.Clock = clk
		w.later(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }) // no one else makes a timer
		w.options.TakeOver = func(context.Context) error {
			if clk.n.Load() == 0 {
				t.Error("taken over without a dead-man timer")
			}
			if tries++; tries < 3 {
				return errors.New("shutdown -c: not now")
			}
			return nil
		}
		w.boot()
		time.Sleep(time.Minute)
		synctest.Wait()
		if tries != 3 {
			t.Errorf("%d tries, want 3: until one succeeds", tries)
		}
	})
}

// H03: a machine whose time is over already is left to what guards it.
func TestTakeOver_Overdue_Never_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		w.boot()
		w.stop()
		time.Sleep(w.limits.Created)
		w.options.TakeOver = func(context.Context) error { t.Error("taken over"); return nil }
		w.machine.HaltFunc = func(context.Context, string) error { time.Sleep(time.Second); return nil }
		w.boot()
		time.Sleep(time.Minute)
		w.wantHalt("no record by the boot deadline")
	})
}

// Who names a store and a way to find it has made a mistake.
func TestNew_ConnectAndStore_Refused(t *testing.T) {
	w := newWorld(t)
	w.options.Connect = func(context.Context) (*store.Store, store.Principal, error) { return nil, "", nil }
	if _, err := agent.New(w.options); err == nil || !strings.Contains(err.Error(), "connect: must be nil") {
		t.Errorf("New = %v", err)
	}
}

// H50 H03: what is fetched early begins after the first heartbeat, keeps no one waiting, and ends with
// the agent.
func TestPrefetch_AfterTheFirstHeartbeat_H50(t *testing.T) {
	inBubble(t, func(w *world) {
		var after, ended atomic.Bool
		w.options.Prefetch = func(ctx context.Context) {
			_, beat := w.said()
			after.Store(!beat.UpdatedAt.IsZero())
			<-ctx.Done()
			ended.Store(true)
		}
		w.begin(store.JIT)
		w.waitFor(store.RegOK)
		if !after.Load() || ended.Load() {
			t.Errorf("prefetch began after a heartbeat: %v, ended: %v, want only the first", after.Load(), ended.Load())
		}
		w.stop()
		if !ended.Load() {
			t.Error("prefetch outlives the agent")
		}
	})
}
