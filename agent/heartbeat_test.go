package agent_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S34 H03: heartbeats come every 5 s from before the script until the end, with or without a record.
func TestHeartbeat_Periodic_S34_S36_H03(t *testing.T) {
	inBubble(t, func(w *world) {
		var atScript store.Heartbeat
		w.options.Script = scriptFunc(func(ctx context.Context) error {
			_, atScript = w.said()
			<-ctx.Done()
			return ctx.Err()
		})
		start := time.Now()
		w.boot()
		for i := range 20 {
			time.Sleep(time.Until(start.Add(time.Duration(i)*5*time.Second + time.Millisecond)))
			if _, beat := w.said(); !beat.UpdatedAt.Equal(store.At(start.Add(time.Duration(i) * 5 * time.Second))) {
				t.Fatalf("heartbeat %d is of %s after the start, want one every 5 s", i, beat.UpdatedAt.Sub(start))
			}
		}
		synctest.Wait()
		if atScript.Value != store.Ping {
			t.Errorf("when the script began the heartbeat was %+v, want one", atScript)
		}
		if _, beat := w.said(); beat.Beat.Runner != "script" || beat.Beat.AgentVersion != "v1" {
			t.Errorf("beat = %+v, want runner script, version v1", beat.Beat)
		}
	})
}

// S34: the period holds from before the script until the power is off, whatever the agent does meanwhile.
func TestHeartbeat_WholeLife_S34(t *testing.T) {
	inBubble(t, func(w *world) {
		start := time.Now()
		var mu sync.Mutex
		last, longest := start, time.Duration(0)
		w.table.setFor(isBeat, func(context.Context) verdict {
			mu.Lock()
			defer mu.Unlock()
			longest, last = max(longest, time.Since(last)), time.Now()
			return fine
		})
		during := func(what string, d time.Duration) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if gap := max(longest, time.Since(last)); gap > 5*time.Second {
				t.Errorf("%s: %s without a heartbeat, want one every 5 s", what, gap)
			}
			longest = 0
		}
		w.options.Script = scriptFunc(func(context.Context) error { time.Sleep(42 * time.Second); return nil })
		w.machine.ScrubFunc = func(context.Context) error { time.Sleep(33 * time.Second); return nil }
		w.machine.HaltFunc = func(context.Context, string) error {
			if time.Sleep(7 * time.Second); len(w.machine.Halts()) < 4 {
				return errors.New("not now")
			}
			return nil
		}
		w.boot()
		during("script, no record yet", 21*time.Second)
		w.launch("a")
		w.grant(store.JIT)
		during("script", 20*time.Second)
		during("registration", 5*time.Second)
		w.wantSignal(store.RegOK, "")
		w.do(store.Transition{Event: statemachine.HandedOver})
		l := w.only()
		l.StartJob()
		during("job", 71*time.Second)
		w.restart()
		during("job under the next agent", 33*time.Second)
		w.release(store.ReleaseDrain)
		during("drain", 71*time.Second)
		l.FinishJob()
		during("scrub", 32*time.Second)
		w.wantShown(agent.RunnerCleaning)
		during("idle", 72*time.Second)
		w.wantSignal(store.RemoveOK, "")
		w.do(store.Transition{Event: statemachine.Pooled})
		w.do(store.Transition{Event: statemachine.Dismissed})
		during("shutdown", 28*time.Second)
		if n := len(w.machine.Halts()); n != 4 {
			t.Errorf("%d tries to power off, want the fourth under way", n)
		}
	})
}

func isBeat(c call) bool { return c.put && c.key.Sort == store.KindHeartbeat }

// A heartbeat that cannot be written neither waits for the store nor stops the next.
func TestHeartbeat_StoreHangs_NextOneComes_S36(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		n := 0
		w.table.setFor(isBeat, func(ctx context.Context) verdict {
			if n++; n > 1 {
				return fine
			}
			<-ctx.Done()
			return down
		})
		time.Sleep(11 * time.Second)
		if _, beat := w.said(); time.Since(beat.UpdatedAt.Time) > 6*time.Second {
			t.Errorf("after one that hung the last heartbeat is %s old", time.Since(beat.UpdatedAt.Time))
		}
	})
}

// G7: an idle machine's heartbeat comes every 15 s and says so, and every 5 s again as soon as it is claimed; what a machine that
// is given back and pooled passes through in less than a second is never written.
func TestHeartbeat_G7_IdleIsRare(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		time.Sleep(10 * time.Second)
		var at []time.Time
		var mu sync.Mutex
		w.table.setFor(isBeat, func(context.Context) verdict {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Now())
			return fine
		})
		beats := func(d time.Duration) (gaps []time.Duration) {
			mu.Lock()
			at = nil
			mu.Unlock()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			for i := range len(at) - 1 {
				gaps = append(gaps, at[i+1].Sub(at[i]))
			}
			return gaps
		}
		w.release(store.ReleaseDrain)
		w.after(3*time.Second, store.RemoveOK, "")
		w.do(store.Transition{Event: statemachine.Pooled})
		if gaps := beats(6 * time.Second); len(gaps) > 1 {
			t.Errorf("a machine that was given back beat %d times in 6 s, want twice at most", len(gaps)+1)
		}
		if _, beat := w.said(); !beat.Beat.Idle || beat.Beat.Runner != agent.RunnerNone {
			t.Errorf("beat of a pooled machine = %+v, want idle, runner none", beat.Beat)
		}
		for _, gap := range beats(2 * time.Minute) {
			if gap != 15*time.Second {
				t.Errorf("%s between two heartbeats of an idle machine, want 15 s", gap)
			}
		}
		w.claim("b", store.JIT)
		time.Sleep(6 * time.Second)
		if _, beat := w.said(); beat.Beat.Idle || beat.Beat.Assignment != w.in().Assignment {
			t.Errorf("beat of a claimed machine = %+v, want not idle, with its assignment", beat.Beat)
		}
		for _, gap := range beats(time.Minute) {
			if gap != 5*time.Second {
				t.Errorf("%s between two heartbeats of a claimed machine, want 5 s", gap)
			}
		}
	})
}

// What matters to others is sent at once: busy, listener state, interruption.
func TestHeartbeat_ChangesSentAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		time.Sleep(7 * time.Second)
		l.StartJob()
		synctest.Wait()
		if _, beat := w.said(); !beat.Beat.Busy || beat.Beat.Runner != "busy" || beat.Beat.RunnerID != 101 {
			t.Errorf("beat after the job's start = %+v, want busy, runner 101", beat.Beat)
		}
		w.machine.Interrupt()
		time.Sleep(2100 * time.Millisecond) // it is looked for every 2 s
		synctest.Wait()
		if _, beat := w.said(); !beat.Beat.Interrupted || time.Since(beat.UpdatedAt.Time) > 2100*time.Millisecond {
			t.Errorf("beat after the notice = %+v, %s old", beat.Beat, time.Since(beat.UpdatedAt.Time))
		}
		l.FinishJob()
		synctest.Wait()
		if _, beat := w.said(); beat.Beat.Busy || !beat.Beat.Interrupted {
			t.Errorf("beat after the job's end = %+v, want idle, still interrupted", beat.Beat)
		}
	})
}
