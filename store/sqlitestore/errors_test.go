package sqlitestore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
)

func TestPut_FullDiskIsUnavailable(t *testing.T) {
	table, err := OpenMemory(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := table.db.SQL().Exec(`PRAGMA max_page_count = 50`); err != nil {
		t.Fatal(err)
	}
	attributes := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 4096))
	for n := 0; err == nil && n < 1000; n++ {
		err = table.Put(t.Context(), store.Item{Key: store.Key{Partition: fmt.Sprint(n), Sort: "TYPE#Test"}, Attributes: attributes}, store.Unconditional)
	}
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Put() error = %v, want %v", err, store.ErrUnavailable)
	}
}

// The sequence of notifications does not grow for ever.
func TestNotify_Prunes(t *testing.T) {
	table, err := OpenMemory(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	keys := make([]store.Key, pruneNotifications)
	for n := range keys {
		keys[n] = store.Key{Partition: "p", Sort: "s"}
	}
	const rounds = keepNotifications/pruneNotifications + 2
	for range rounds {
		if err := table.Notify(t.Context(), keys...); err != nil {
			t.Fatal(err)
		}
	}
	var rows, last int
	if err := table.db.SQL().QueryRow(`SELECT count(*), max(seq) FROM store_ring`).Scan(&rows, &last); err != nil {
		t.Fatal(err)
	}
	if rows > keepNotifications+pruneNotifications || rows < keepNotifications || last != rounds*pruneNotifications {
		t.Errorf("%d notifications are kept of %d, want %d to %d of %d", rows, last, keepNotifications, keepNotifications+pruneNotifications, rounds*pruneNotifications)
	}
}

// BenchmarkWatch_IdlePoll is what an idle watcher of a file does 50 times a second.
func BenchmarkWatch_IdlePoll(b *testing.B) {
	table, err := open(b.Context(), b.TempDir()+"/r.db", clock.RealClock{})
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	w := watcher{db: table.db.SQL(), stmt: table.stmt, last: unknown}
	if err := w.look(b.Context()); err != nil {
		b.Fatal(err)
	}
	w.changed(b.Context())
	for b.Loop() {
		if w.changed(b.Context()) {
			b.Fatal("an idle file changed")
		}
	}
}

// BenchmarkWatch_Look is what it does instead while others write to the file, whatever they write.
func BenchmarkWatch_Look(b *testing.B) {
	table, err := open(b.Context(), b.TempDir()+"/r.db", clock.RealClock{})
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	w := watcher{db: table.db.SQL(), stmt: table.stmt, last: unknown}
	for b.Loop() {
		if err := w.look(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
