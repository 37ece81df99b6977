package sqlitepool

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	insert = `INSERT INTO pool_message (class, body, visible_at) VALUES (?1, ?2, ?3)`

	// take gives each message it hides a receipt that nobody has seen before. Its limit is a sum, since
	// SQLite parses a statement anew whenever a value is bound to a bare parameter there.
	take = `UPDATE pool_message SET visible_at = ?4, receipt = lower(hex(randomblob(16)))
		WHERE id IN (SELECT id FROM pool_message WHERE class = ?1 AND visible_at <= ?2 ORDER BY visible_at, id LIMIT ?3 + 0)
		RETURNING id, body, receipt`

	next      = `SELECT min(visible_at) FROM pool_message WHERE class = ?1`
	deleteOne = `DELETE FROM pool_message WHERE id = ?1`

	// done takes the receipts as a JSON list, since there may be any number. A receipt whose hold has
	// ended is not valid any more. Left to itself SQLite prefers to read all that is held of the class.
	done = `DELETE FROM pool_message INDEXED BY pool_message_receipt
		WHERE class = ?1 AND visible_at > ?2 AND receipt <> '' AND receipt IN (SELECT value FROM json_each(?3))`

	dataVersion = `PRAGMA data_version`
)

// statements are those that run often: to parse one costs as much as to run it. They live as long as
// the connection.
type statements struct {
	insert, take, next, done, version *sql.Stmt
}

func prepare(ctx context.Context, db *sql.DB) (s statements, err error) {
	for _, p := range []struct {
		to    **sql.Stmt
		query string
	}{{&s.insert, insert}, {&s.take, take}, {&s.next, next}, {&s.done, done}, {&s.version, dataVersion}} {
		if *p.to, err = db.PrepareContext(ctx, p.query); err != nil {
			return s, fmt.Errorf("prepare %s: %w", p.query, err)
		}
	}
	return s, nil
}
