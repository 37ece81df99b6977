package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/store"
)

// removeListener makes the state file forget the listener's process.
func removeListener(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(b, &state); err != nil {
		t.Fatal(err)
	}
	work := state["work"].(map[string]any)
	work["listener"] = map[string]any{"pid": 0, "start": 0}
	if b, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func isSignal(c call) bool { return c.put && c.key.Sort == store.KindSignal }

// H48: a report that cannot be written is tried until it is; heartbeats go on meanwhile.
func TestReport_WriteFails_TriedUntilDelivered_H48(t *testing.T) {
	for _, tt := range []struct {
		name string
		hook func(ctx context.Context) verdict
	}{
		{"Errors", func(context.Context) verdict { return down }},
		{"Denied", func(context.Context) verdict { return denied }},
		{"ReplyLost", func(context.Context) verdict { return lost }},
		{"Hangs", func(ctx context.Context) verdict { <-ctx.Done(); return down }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.online(store.JIT)
				w.table.set(func(ctx context.Context, c call) verdict {
					if isSignal(c) {
						return tt.hook(ctx)
					}
					return fine
				})
				w.release(store.Drain)
				time.Sleep(time.Minute)
				if _, beat := w.said(); time.Since(beat.UpdatedAt.Time) > 5*time.Second {
					t.Errorf("last heartbeat is %s old", time.Since(beat.UpdatedAt.Time))
				}
				w.table.set(nil)
				time.Sleep(12 * time.Second)
				w.wantSignal(store.RemoveOK, "")
			})
		})
	}
}

// A report given up for a newer one may still arrive, later than that: the newer one is written
// again.
func TestReport_LateWriteOvertaken_H48(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		time.Sleep(30 * time.Second)
		var late store.Item
		w.table.set(func(ctx context.Context, c call) verdict {
			if isSignal(c) {
				<-ctx.Done() // under way when it is given up
				return down
			}
			return fine
		})
		l.StartJob()
		l.FinishJob() // RegNext is being written
		time.Sleep(3 * time.Second)
		late = w.signalItem(store.RegNext)
		w.table.set(nil)
		w.release(store.Drain)
		time.Sleep(3 * time.Second)
		w.wantSignal(store.RemoveOK, "")
		if err := w.table.table.Put(context.Background(), late, store.Any); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		w.wantSignal(store.RemoveOK, "")
	})
}

// signalItem returns the stored form of a signal for the present assignment.
func (w *world) signalItem(name store.SignalName) store.Item {
	w.t.Helper()
	in := w.in()
	other := newTable()
	v := store.SignalValue{Signal: name, RunID: in.RunID, Assignment: in.Assignment, Serial: w.serial}
	if err := store.New(other).Signal(context.Background(), self, v, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	items, err := other.Get(context.Background(), store.Consistent, store.InstanceKey(self, store.KindSignal))
	if err != nil || len(items) != 1 {
		w.t.Fatalf("signal = %v, %v", items, err)
	}
	return items[0]
}

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

// A heartbeat that cannot be written neither waits for the store nor stops the next.
func TestHeartbeat_StoreHangs_NextOneComes_S36(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		n := 0
		w.table.set(func(ctx context.Context, c call) verdict {
			if c.put && c.key.Sort == store.KindHeartbeat {
				if n++; n == 1 {
					<-ctx.Done()
					return down
				}
			}
			return fine
		})
		time.Sleep(11 * time.Second)
		if _, beat := w.said(); time.Since(beat.UpdatedAt.Time) > 6*time.Second {
			t.Errorf("after one that hung the last heartbeat is %s old", time.Since(beat.UpdatedAt.Time))
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
