package sqlitedb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"modernc.org/sqlite"
)

// BusyTimeout is how long a call waits for a lock that another process holds. It is three times
// the longest lock to be expected (5 s: a backup, a stopped process).
const BusyTimeout = 15 * time.Second

// busySlice is how long SQLite itself waits for a lock, polling, before the call looks at its
// context again.
const busySlice = 100 * time.Millisecond

// pauseFirst and pauseMax bound the pause between two slices. SQLite reports some locks without
// having waited for them, such as those in the way of the switch to WAL.
const (
	pauseFirst = time.Millisecond
	pauseMax   = 20 * time.Millisecond
)

// pragmas are set on every connection. NORMAL loses no commit to a killed process, only the last
// ones to a power cut, and then none in part (SQLite, "PRAGMA synchronous").
var pragmas = []string{
	fmt.Sprintf("PRAGMA busy_timeout = %d", busySlice.Milliseconds()),
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = NORMAL",
	"PRAGMA trusted_schema = OFF",
}

// connector opens connections of one database.
type connector struct {
	dsn    string
	memory bool
	opened atomic.Bool
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.opened.Swap(true) && c.memory {
		return nil, errors.New("the connection that held the database in memory was lost")
	}
	raw, err := c.Driver().Open(c.dsn + "?_txlock=immediate")
	if err != nil {
		return nil, err
	}
	inner, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks methods this package needs", raw), raw.Close())
	}
	out := conn{inner}
	for _, p := range pragmas {
		if _, err := out.ExecContext(ctx, p, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", p, err), raw.Close())
		}
	}
	return out, nil
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return new(sqlite.Driver) }

// sqliteConn is what the driver's connections do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// conn waits for locks as long as its caller's context and BusyTimeout allow, and keeps contexts
// from the driver: that starts a goroutine per statement to interrupt it, and an interrupted
// connection is thrown away, together with a database in memory. A statement takes microseconds;
// what takes long is the wait for a lock, and that is here.
type conn struct{ sqliteConn }

// BeginTx implements driver.ConnBeginTx.
func (c conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return patiently(ctx, func(ctx context.Context) (driver.Tx, error) { return c.sqliteConn.BeginTx(ctx, opts) })
}

// ExecContext implements driver.ExecerContext.
func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return patiently(ctx, func(ctx context.Context) (driver.Result, error) {
		return c.sqliteConn.ExecContext(ctx, query, args)
	})
}

// QueryContext implements driver.QueryerContext.
func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return patiently(ctx, func(ctx context.Context) (driver.Rows, error) {
		return c.sqliteConn.QueryContext(ctx, query, args)
	})
}

// PrepareContext implements driver.ConnPrepareContext.
func (c conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := patiently(ctx, func(ctx context.Context) (driver.Stmt, error) {
		return c.sqliteConn.PrepareContext(ctx, query)
	})
	if err != nil {
		return nil, err
	}
	inner, ok := s.(sqliteStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks methods this package needs", s), s.Close())
	}
	return stmt{inner}, nil
}

// sqliteStmt is what the driver's prepared statements do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// stmt does for prepared statements what conn does for others.
type stmt struct{ sqliteStmt }

// ExecContext implements driver.StmtExecContext.
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return patiently(ctx, func(ctx context.Context) (driver.Result, error) { return s.sqliteStmt.ExecContext(ctx, args) })
}

// QueryContext implements driver.StmtQueryContext.
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return patiently(ctx, func(ctx context.Context) (driver.Rows, error) { return s.sqliteStmt.QueryContext(ctx, args) })
}

// patiently repeats do, uninterruptible, while the database is locked.
func patiently[R any](ctx context.Context, do func(context.Context) (R, error)) (R, error) {
	if err := ctx.Err(); err != nil {
		var none R
		return none, err
	}
	whole := context.WithoutCancel(ctx)
	out, err := do(whole)
	if !busy(err) {
		return out, err
	}
	locked := err
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(pauseFirst),
		backoff.WithMaxInterval(pauseMax), backoff.WithMaxElapsedTime(BusyTimeout))
	out, err = backoff.RetryWithData(func() (R, error) {
		out, err := do(whole)
		if err != nil && !busy(err) {
			err = backoff.Permanent(err)
		}
		return out, err
	}, backoff.WithContext(pause, ctx))
	if err != nil && ctx.Err() != nil && !busy(err) {
		err = fmt.Errorf("%w, waiting: %w", err, locked)
	}
	return out, err
}
