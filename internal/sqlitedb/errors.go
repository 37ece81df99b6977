package sqlitedb

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Unavailable reports whether err is of a kind that passes without a change of the program: the
// file is locked, the disk is full or fails. Whether a commit that ended so took effect is unknown.
func Unavailable(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

// busy reports whether another connection's lock was in the way and nothing was done.
func busy(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// code returns the primary result code of SQLite in err's chain, 0 if there is none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
