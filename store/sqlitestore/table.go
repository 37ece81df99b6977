// Package sqlitestore keeps the items of package store in a SQLite file that any number of
// processes on one machine share. It is a product for one machine, not a test double; it is also
// stronger than the contract asks: every read is consistent, and a notification reaches every watcher.
// See docs/architecture.md#store.
package sqlitestore

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/store"
)

//go:embed schema.sql
var schema string

// Table implements store.Table.
type Table struct {
	db     *sqlitedb.DB
	clock  clock.WithTicker
	memory bool         // no other process can notify
	purged atomic.Int64 // Unix milliseconds of the last purge that left nothing behind
	stmt   statements

	mu    sync.Mutex
	bells map[chan struct{}]bool // one per Watch of this process
}

// Open opens the table in the file that u names, see sqlitedb.Path. The caller closes it.
func Open(ctx context.Context, u *url.URL, clk clock.WithTicker) (*Table, error) {
	path, err := sqlitedb.Path(u)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, clk)
}

// OpenMemory opens a table that lives in memory until it is closed.
func OpenMemory(ctx context.Context, clk clock.WithTicker) (*Table, error) {
	return open(ctx, sqlitedb.Memory, clk)
}

func open(ctx context.Context, path string, clk clock.WithTicker) (*Table, error) {
	db, err := sqlitedb.Open(ctx, path)
	if err != nil {
		return nil, classified(err)
	}
	t := &Table{db: db, clock: clk, memory: path == sqlitedb.Memory, bells: map[chan struct{}]bool{}}
	if err = db.Migrate(ctx, "store", schema); err == nil {
		t.stmt, err = prepare(ctx, db.SQL())
	}
	if err != nil {
		return nil, errors.Join(classified(err), db.Close())
	}
	return t, nil
}

// Close implements store.Table.
func (t *Table) Close() error { return t.db.Close() }

// Put implements store.Table.
func (t *Table) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := item.Valid(expect); err != nil {
		return err
	}
	now := t.clock.Now().UnixMilli()
	put, args := t.stmt.replace, []any{item.Key.Partition, item.Key.Sort, item.Version, expiry(item), string(item.Attributes), now, expect}
	switch expect {
	case store.Unconditional:
		put, args = t.stmt.upsert, args[:5]
	case 0:
		put, args = t.stmt.create, args[:6]
	}
	done, err := changes(put.ExecContext(ctx, args...))
	if err == nil && !done {
		// Seldom: once more, and this time no one may write before the conflicting item is read.
		err = t.db.Write(ctx, func(tx *sql.Tx) error {
			done, err := changes(tx.StmtContext(ctx, put).ExecContext(ctx, args...))
			if err != nil || done {
				return err
			}
			return conflict(ctx, tx.StmtContext(ctx, t.stmt.one), item.Key, expect, now)
		})
	}
	if err != nil {
		return classified(err)
	}
	t.purge(ctx, now)
	return nil
}

// changes reports whether a statement changed anything.
func changes(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// expiry returns the column's value.
func expiry(item store.Item) any {
	if item.ExpiresAt.IsZero() {
		return nil
	}
	return item.ExpiresAt.UnixMilli()
}

// conflict returns the *store.ConflictError that carries what is stored.
func conflict(ctx context.Context, one *sql.Stmt, key store.Key, expect, now int64) error {
	out := &store.ConflictError{Key: key, Expect: expect}
	items, _, err := read(ctx, math.MaxInt, one, now, key.Partition, key.Sort)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		out.Current = &items[0]
	}
	return out
}

// purgeEvery and purgeBatch bound what expired items cost: at most one batch per minute, and with
// each write while more of them wait, so that no write takes much longer than others (a batch:
// about 1 ms) and the backlog still shrinks faster than it can grow.
const (
	purgeEvery = time.Minute
	purgeBatch = 100
)

// purge removes a batch of expired items if it is time to. No one depends on it: such items count
// as absent. So an error only means that the next write tries again.
func (t *Table) purge(ctx context.Context, now int64) {
	if last := t.purged.Load(); now-last < purgeEvery.Milliseconds() && now >= last {
		return
	}
	result, err := t.db.SQL().ExecContext(ctx, deleteExpired, now, purgeBatch)
	if err != nil {
		return
	}
	if n, err := result.RowsAffected(); err == nil && n < purgeBatch {
		t.purged.Store(now)
	}
}

// classified marks errors that pass as store.ErrUnavailable.
func classified(err error) error {
	if sqlitedb.Unavailable(err) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}
