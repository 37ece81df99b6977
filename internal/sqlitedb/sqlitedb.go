// Package sqlitedb opens the SQLite file that the embedded back ends keep their tables in.
//
// Several processes have the file open at once: the controller, the agents, the command line.
// A file that one of them keeps locked delays the others' calls for up to BusyTimeout and then
// fails them with an error that Unavailable recognises. Each back end brings its own schema by
// Migrate; tables of several back ends share one file, and no transaction of one touches those
// of another.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Memory as the path of Open makes a database that lives in memory until it is closed.
const Memory = ":memory:"

// DB is one open database. It is safe for concurrent use; calls take turns on its one connection,
// since SQLite admits one writer and a read here takes microseconds.
type DB struct {
	sql  *sql.DB
	path string
}

// Open opens the file at path, creating it readable by its owner only, since records hold secrets.
// The folder must exist and be writable. The caller closes the DB.
func Open(ctx context.Context, path string) (*DB, error) {
	c := &connector{dsn: Memory, memory: true}
	if path != Memory {
		dsn, err := prepare(path)
		if err != nil {
			return nil, fmt.Errorf("open database %s: %w", path, err)
		}
		c = &connector{dsn: dsn}
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	return &DB{sql: db, path: path}, nil
}

// prepare creates the file if need be and returns its SQLite URI.
func prepare(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := create(abs); err != nil {
		return "", err
	}
	// Without these checks SQLite falls back to reading, or says only "unable to open".
	if err := unix.Access(abs, unix.R_OK|unix.W_OK); err != nil {
		return "", fmt.Errorf("file %s must be writable: %w", abs, err)
	}
	if err := unix.Access(filepath.Dir(abs), unix.W_OK|unix.X_OK); err != nil {
		return "", fmt.Errorf("folder %s must be writable: %w", filepath.Dir(abs), err)
	}
	uri := url.URL{Scheme: "file", Path: abs}
	return uri.String(), nil
}

// creating serialises create: closing any descriptor of a file drops every POSIX lock that the
// process has on it, so no connection may be opened while another call still holds one.
var creating sync.Mutex

// create makes an empty file unless there is one.
func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// SQL returns the handle for reads, and for writes of a single statement, which need no transaction of
// Write. Results must be closed before the next call: there is one connection. A cancelled context ends the wait for it and for locks, and the transfer of rows; a
// statement that SQLite already runs is finished.
func (d *DB) SQL() *sql.DB { return d.sql }

// Write runs fn in one transaction that holds the write lock from its beginning. It commits if fn
// returns nil; otherwise, also when ctx ends before the commit, nothing is changed. fn must use
// nothing but its transaction.
func (d *DB) Write(ctx context.Context, fn func(*sql.Tx) error) (err error) {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if e := tx.Rollback(); !errors.Is(e, sql.ErrTxDone) {
			err = errors.Join(err, e)
		}
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
			err = fmt.Errorf("rolled back: %w", ctx.Err())
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Close closes the database. Calls after it fail.
func (d *DB) Close() error {
	if err := d.sql.Close(); err != nil {
		return fmt.Errorf("close database %s: %w", d.path, err)
	}
	return nil
}
