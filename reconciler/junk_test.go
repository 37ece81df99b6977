package reconciler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H10 H61: what somebody leaves without an expiry where workflows and machines write is given one, a few with each
// scan.
func TestJunk_Goes_H61(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		put := func(partition, sort string) store.Key {
			k := store.Key{Partition: partition, Sort: sort}
			if err := w.Table.Put(t.Context(), store.Item{Key: k, Attributes: []byte(`{"note":"kept"}`)}, store.Any); err != nil {
				t.Fatal(err)
			}
			return k
		}
		var junk []store.Key
		for i := range 30 {
			junk = append(junk, put("INSTANCE#i-gone", fmt.Sprint("TYPE#Mine", i)))
		}
		junk = append(junk, put("RUN#4711", "TYPE#Note"), put("INSTANCE#i-gone", store.KindHeartbeat), put("RUN#4712", store.KindRunClient))
		w.Config.Scan = time.Minute
		w.controller("c1", nil)
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		left := func() (without, with int) {
			items, err := w.Table.Get(t.Context(), store.Consistent, junk...)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if item.ExpiresAt.IsZero() {
					without++
				} else if with++; item.ExpiresAt.After(w.Clock.Now().Add(8*24*time.Hour)) || string(item.Attributes) != `{"note":"kept"}` {
					t.Errorf("%v holds %s until %s, want what it held for a week", item.Key, item.Attributes, item.ExpiresAt)
				}
			}
			return without, with
		}
		w.await(5*time.Minute, "every junk item has an expiry", func() bool { without, with := left(); return without == 0 && with == len(junk) })
		w.release("100", 1, store.Drain)
		for _, k := range junk { // the audit at the end would name them
			if err := w.Table.Put(t.Context(), store.Item{Key: k, ExpiresAt: w.Clock.Now().Truncate(time.Second), Attributes: []byte(`{}`)}, store.Any); err != nil {
				t.Fatal(err)
			}
		}
	})
}
