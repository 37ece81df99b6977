package sqlitedb_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/sqlitedb"
)

// hold takes the write lock of the file through db and returns the function that gives it back.
func hold(t *testing.T, db *sqlitedb.DB) (release func()) {
	t.Helper()
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Write(context.Background(), func(*sql.Tx) error {
			close(held)
			<-done
			return nil
		})
	}()
	<-held
	return func() {
		close(done)
		if err := <-ended; err != nil {
			t.Errorf("holder: %v", err)
		}
	}
}

func TestWrite_LockedFileOnlyDelays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	other, db := open(t, path), open(t, path)
	release := hold(t, other)
	if got := count(t, db); got != 0 { // while the writer has the lock: a read does not wait for it
		t.Errorf("rows read under the lock = %d, want 0", got)
	}
	const locked = 700 * time.Millisecond // several slices
	var released atomic.Bool
	time.AfterFunc(locked, func() {
		released.Store(true)
		release()
	})
	if err := add(t.Context(), db, 1); err != nil {
		t.Errorf("Write() error = %v, want only a delay", err)
	}
	if !released.Load() {
		t.Error("Write() did not wait for the lock")
	}
}

func TestWrite_CancelEndsTheWaitForALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	other, db := open(t, path), open(t, path)
	defer hold(t, other)()
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := add(ctx, db, 1)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Write() error = %v, want %v", err, context.DeadlineExceeded)
	}
	if took := time.Since(start); took >= sqlitedb.BusyTimeout {
		t.Errorf("Write() returned %s after its context ended, as if it had none", took)
	}
}

func TestUnavailable(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	if _, err := db.SQL().Exec(`PRAGMA max_page_count = 1`); err != nil {
		t.Fatal(err)
	}
	full := add(t.Context(), db, 1)
	for i := 0; full == nil && i < 10_000; i++ {
		full = add(t.Context(), db, i)
	}
	_, syntax := db.SQL().Exec(`SELEC`)
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"Full", full, true},
		{"Syntax", syntax, false},
		{"Cancelled", context.Canceled, false},
		{"None", nil, false},
	}
	for _, tt := range tests {
		if got := sqlitedb.Unavailable(tt.err); got != tt.want {
			t.Errorf("%s: Unavailable(%v) = %t, want %t", tt.name, tt.err, got, tt.want)
		}
	}
}
