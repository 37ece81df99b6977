package sqlitedb_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/sqlitedb"
)

var testSchema = []string{`CREATE TABLE test (n INTEGER NOT NULL) STRICT`}

func add(ctx context.Context, db *sqlitedb.DB, n int) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO test (n) VALUES (?)`, n)
		return err
	})
}

func count(t *testing.T, db *sqlitedb.DB) int {
	t.Helper()
	var n int
	if err := db.SQL().QueryRow(`SELECT count(*) FROM test`).Scan(&n); err != nil {
		t.Fatalf("count: %v", err)
	}
	return n
}

func open(t *testing.T, path string) *sqlitedb.DB {
	t.Helper()
	db, err := sqlitedb.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("Open(%s) error = %v", path, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close() error = %v", err)
		}
	})
	if err := db.Migrate(t.Context(), "test", testSchema...); err != nil {
		t.Fatalf("Migrate() error = %v", err)
	}
	return db
}

func TestOpen_TenProcessesOnAFreshPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fresh.db")
	const processes = 10
	var wg sync.WaitGroup
	for range processes {
		cmd := command(t, path)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child: %v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if got := count(t, open(t, path)); got != processes*childRows {
		t.Errorf("rows = %d, want %d", got, processes*childRows)
	}
}

func TestOpen_ConcurrentlyInOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fresh.db")
	const handles = 8
	var wg sync.WaitGroup
	for range handles {
		db := make(chan *sqlitedb.DB, 1)
		wg.Go(func() {
			defer close(db)
			d, err := sqlitedb.Open(t.Context(), path)
			if err == nil {
				err = d.Migrate(t.Context(), "test", testSchema...)
			}
			if err == nil {
				err = add(t.Context(), d, 1)
			}
			if err != nil {
				t.Errorf("error = %v", err)
				return
			}
			db <- d
		})
		t.Cleanup(func() {
			if d := <-db; d != nil {
				d.Close()
			}
		})
	}
	wg.Wait()
	if got := count(t, open(t, path)); got != handles {
		t.Errorf("rows = %d, want %d", got, handles)
	}
}

func TestOpen_OwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.db")
	db := open(t, path)
	if err := add(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("mode of %s = %o, want 600", filepath.Base(name), got)
		}
	}
}

func TestOpen_Pragmas(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pragmas.db"))
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1"} {
		var got string
		if err := db.SQL().QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v, want %q", pragma, got, err, want)
		}
	}
}

func TestOpen_PathWithSpecialCharacters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?mode=memory&c#d%41.db")
	if err := add(t.Context(), open(t, path), 1); err != nil {
		t.Fatal(err)
	}
	if got := count(t, open(t, path)); got != 1 {
		t.Errorf("rows through a second handle = %d, want 1", got)
	}
}

func TestOpen_BadPathIsNamed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("this is no database, and long enough to be seen as none"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, reason, path string
		want               error // nil: any
	}{
		{"MissingFolder", "folders are the operator's to make", filepath.Join(dir, "none", "x.db"), fs.ErrNotExist},
		{"FolderIsAFile", "nothing can be created below a file", filepath.Join(file, "x.db"), nil},
		{"PathIsAFolder", "a folder cannot be opened as a file", dir, nil},
		{"NotADatabase", "a foreign file is never overwritten", file, nil},
		{"UnwritableFolder", "no one can create files there", "/proc/x.db", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db, err := sqlitedb.Open(t.Context(), tt.path)
			if err == nil {
				db.Close()
				t.Fatalf("Open(%s) succeeded: %s", tt.path, tt.reason)
			}
			if !strings.Contains(err.Error(), tt.path) {
				t.Errorf("Open() error = %v, want it to name %s", err, tt.path)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Open() error = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestWrite_ErrorRollsBack(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	mine := errors.New("mine")
	err := db.Write(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO test (n) VALUES (1)`); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("Write() error = %v, want %v", err, mine)
	}
	if got := count(t, db); got != 0 {
		t.Errorf("rows = %d, want 0", got)
	}
}

func TestWrite_PanicRollsBack(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Write() swallowed the panic")
			}
		}()
		_ = db.Write(t.Context(), func(tx *sql.Tx) error {
			if _, err := tx.Exec(`INSERT INTO test (n) VALUES (1)`); err != nil {
				return err
			}
			panic("bug")
		})
	}()
	if got := count(t, db); got != 0 {
		t.Errorf("rows = %d, want 0", got)
	}
}

// A cancelled context must neither leave half a write nor cost the connection, which for a
// database in memory is the data.
func TestWrite_CancelledKeepsTheDatabase(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Write(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO test (n) VALUES (?)`, i); err != nil {
				return err
			}
			cancel()
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("Write() error = %v, want %v", err, context.Canceled)
		}
	}
	if got := count(t, db); got != 0 {
		t.Errorf("rows = %d, want 0", got)
	}
	if err := add(t.Context(), db, 1); err != nil {
		t.Errorf("Write() after cancelled ones: %v", err)
	}
}

func TestSQL_CancelledReadKeepsTheDatabase(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	for i := range 100 {
		if err := add(t.Context(), db, i); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := db.SQL().QueryContext(ctx, `SELECT a.n FROM test a, test b, test c`)
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		cancel()
		for rows.Next() {
		}
		if err := rows.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("rows.Err() = %v, want %v", err, context.Canceled)
		}
		rows.Close()
	}
	if got := count(t, db); got != 100 {
		t.Errorf("rows = %d, want 100", got)
	}
}

// A context that ends while SQLite runs a statement waits for its end instead of interrupting it,
// which would cost the connection.
func TestSQL_CancelledStatementKeepsTheDatabase(t *testing.T) {
	db := open(t, sqlitedb.Memory)
	const long = `WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10000) SELECT count(*) FROM c`
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		var n int
		if err := db.SQL().QueryRowContext(ctx, long).Scan(&n); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("query error = %v, want none or the deadline", err)
		}
		cancel()
	}
	if got := count(t, db); got != 0 {
		t.Errorf("rows = %d, want 0", got)
	}
}

func TestClose_CallsAfterItFail(t *testing.T) {
	db, err := sqlitedb.Open(t.Context(), sqlitedb.Memory)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), db, 1); err == nil {
		t.Error("Write() after Close() succeeded")
	}
}

// The whole life of a database fits in a bubble: virtual time passes and no goroutine stays.
func TestOpen_MemoryInABubble(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		start := time.Now()
		db := open(t, sqlitedb.Memory)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				for range 10 {
					time.Sleep(time.Minute)
					if err := add(t.Context(), db, i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if got := count(t, db); got != 100 {
			t.Errorf("rows = %d, want 100", got)
		}
		if got := time.Since(start); got != 10*time.Minute {
			t.Errorf("elapsed = %s, want 10m of bubble time", got)
		}
	})
}
