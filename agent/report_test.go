package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
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
		{"Errors", always(down)}, {"Denied", always(denied)}, {"ReplyLost", always(lost)},
		{"Hangs", func(ctx context.Context) verdict { <-ctx.Done(); return down }},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			w.online(store.JIT)
			w.table.setFor(isSignal, tt.hook)
			w.release(store.ReleaseDrain)
			time.Sleep(time.Minute)
			if _, beat := w.said(); time.Since(beat.UpdatedAt.Time) > 5*time.Second {
				w.t.Errorf("last heartbeat is %s old", time.Since(beat.UpdatedAt.Time))
			}
			w.table.set(nil)
			w.after(12*time.Second, store.RemoveOK, "")
		}))
	}
}

// A report given up for a newer one may still arrive, later than that: the newer one is written
// again.
func TestReport_LateWriteOvertaken_H48(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		time.Sleep(30 * time.Second)
		var late store.Item
		w.table.setFor(isSignal, func(ctx context.Context) verdict {
			<-ctx.Done() // under way when it is given up
			return down
		})
		l.StartJob()
		l.FinishJob() // RegNext is being written
		time.Sleep(3 * time.Second)
		late = w.signalItem(store.RegNext)
		w.table.set(nil)
		w.release(store.ReleaseDrain)
		w.after(3*time.Second, store.RemoveOK, "")
		if err := w.table.table.Put(context.Background(), late, store.Unconditional); err != nil {
			t.Fatal(err)
		}
		w.after(20*time.Second, store.RemoveOK, "")
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
