package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

func item(name string) store.Item { return store.Item{Key: keyNamed(name), Attributes: []byte(`{}`)} }

// openDB opens the file below a table a second time.
func openDB(t *testing.T, path string) *sqlitedb.DB {
	t.Helper()
	db, err := sqlitedb.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestOpen_BadURL(t *testing.T) {
	dir := t.TempDir()
	for _, raw := range []string{"dynamodb://table", "sqlite://remuda.db", "sqlite://" + dir + "/none/remuda.db"} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		table, err := sqlitestore.Open(t.Context(), u, clock.RealClock{})
		if err == nil {
			table.Close()
			t.Errorf("Open(%s) succeeded", raw)
		} else if !strings.Contains(err.Error(), strings.TrimPrefix(raw, "sqlite://")) {
			t.Errorf("Open(%s) error = %v, want it to name what is wrong", raw, err)
		}
	}
}

// A file that another process keeps locked delays every call and fails none.
func TestTable_LockedFileOnlyDelays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	table, other := open(t, path, clock.RealClock{}), openDB(t, path)
	defer table.Close()
	held := make(chan struct{})
	released := make(chan error, 1)
	var over atomic.Bool
	go func() {
		released <- other.Write(context.Background(), func(*sql.Tx) error {
			close(held)
			time.Sleep(time.Second)
			over.Store(true)
			return nil
		})
	}()
	<-held
	calls := map[string]func() error{
		"Put":    func() error { return table.Put(t.Context(), item("a"), store.Unconditional) },
		"Notify": func() error { return table.Notify(t.Context(), keyNamed("a")) },
		"Get":    func() error { _, err := table.Get(t.Context(), store.Consistent, keyNamed("a")); return err },
		"Scan":   func() error { return table.Scan(t.Context(), func(store.Item) error { return nil }) },
	}
	results := make(chan error, len(calls))
	for name, call := range calls {
		go func() {
			if err := call(); err != nil {
				results <- fmt.Errorf("%s: %w", name, err)
				return
			}
			if !over.Load() && (name == "Put" || name == "Notify") {
				results <- fmt.Errorf("%s wrote under another's lock", name)
				return
			}
			results <- nil
		}()
	}
	for range calls {
		if err := <-results; err != nil {
			t.Errorf("error = %v, want only a delay", err)
		}
	}
	if err := <-released; err != nil {
		t.Errorf("holder: %v", err)
	}
}

func TestPut_CancelledWhileLockedChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	table, other := open(t, path, clock.RealClock{}), openDB(t, path)
	defer table.Close()
	err := other.Write(t.Context(), func(*sql.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := table.Put(ctx, item("a"), store.Unconditional)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Put() error = %v, want the deadline and what it waited for", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	items, err := table.Get(t.Context(), store.Consistent, keyNamed("a"))
	if err != nil || len(items) != 0 {
		t.Errorf("Get() = %v, %v, want nothing", items, err)
	}
}

// The instant of expiry itself is past it.
func TestTable_ExpiryToTheMillisecond(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		now  time.Time
		want int
	}{
		{"OneMillisecondBefore", at.Add(-time.Millisecond), 1},
		{"Exactly", at, 0},
		{"After", at.Add(time.Hour), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clk := clocktesting.NewFakeClock(at.Add(-time.Hour))
			table := open(t, ":memory:", clk)
			defer table.Close()
			expiring := item("a")
			expiring.ExpiresAt = at
			if err := table.Put(t.Context(), expiring, store.Unconditional); err != nil {
				t.Fatal(err)
			}
			clk.SetTime(tt.now)
			one, err := table.Get(t.Context(), store.Consistent, keyNamed("a"))
			if err != nil || len(one) != tt.want {
				t.Errorf("Get(one key) = %v, %v, want %d items", one, err, tt.want)
			}
			many, err := table.Get(t.Context(), store.Consistent, keyNamed("a"), keyNamed("b"))
			if err != nil || len(many) != tt.want {
				t.Errorf("Get(two keys) = %v, %v, want %d items", many, err, tt.want)
			}
			created := item("a")
			created.Version = 1
			if err := table.Put(t.Context(), created, 0); errors.Is(err, store.ErrConflict) != (tt.want == 1) {
				t.Errorf("Put(expect 0) error = %v, want a conflict = %t", err, tt.want == 1)
			}
		})
	}
}

// Expired items leave the file with later writes, a bounded number with each (H04).
func TestPut_PurgesInBatches_H04(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	table, db := open(t, path, clk), openDB(t, path)
	defer table.Close()
	put := func(name string, life time.Duration) {
		t.Helper()
		it := item(name)
		if life > 0 {
			it.ExpiresAt = clk.Now().Add(life)
		}
		if err := table.Put(t.Context(), it, store.Unconditional); err != nil {
			t.Fatal(err)
		}
	}
	wantRows := func(when string, want int) {
		t.Helper()
		var got int
		if err := db.SQL().QueryRow(`SELECT count(*) FROM store_item`).Scan(&got); err != nil || got != want {
			t.Errorf("rows %s = %d, %v, want %d", when, got, err, want)
		}
	}
	for n := range 250 {
		put(fmt.Sprintf("short-%d", n), time.Minute)
	}
	put("long", 3*time.Hour)
	wantRows("before expiry", 251)
	clk.Step(time.Hour)
	put("keeper", 0)
	wantRows("after one write", 252-100)
	put("keeper", 0)
	wantRows("after two writes", 252-200)
	put("keeper", 0)
	wantRows("after three writes", 2)

	put("brief", time.Second)
	clk.Step(2 * time.Second)
	put("keeper", 0)
	wantRows("seconds after a complete purge", 3)
	clk.Step(time.Minute)
	put("keeper", 0)
	wantRows("a minute after a complete purge", 2)
}
