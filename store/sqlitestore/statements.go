package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// A limit is written as a sum, because SQLite takes a bare parameter there as a hint for its planner and
// parses the statement anew whenever a value is bound to it (SQLite, expr.c, sqlite3ExprIsInteger).
// That takes longer than to run it.
//
// Attributes of foreign items that are too large are not read.
var (
	columns = fmt.Sprintf(`SELECT partition, sort, version, expires_at, octet_length(attributes),
		CASE WHEN octet_length(attributes) <= %d OR sort IN ('%s') THEN attributes END FROM store_item `,
		store.MaxForeign, strings.Join(store.OwnKinds, "','"))

	selectOne  = columns + unexpired + `AND partition = ?2 AND sort = ?3`
	selectPage = columns + unexpired + `AND (partition, sort) > (?2, ?3) ORDER BY partition, sort LIMIT ?4 + 0`
	selectMany = columns + unexpired + `AND (partition, sort) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))`
)

const (
	unexpired = `WHERE (expires_at IS NULL OR expires_at > ?1) `

	upsert = `INSERT INTO store_item (partition, sort, version, expires_at, attributes) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (partition, sort) DO UPDATE
		SET version = excluded.version, expires_at = excluded.expires_at, attributes = excluded.attributes`
	create  = upsert + ` WHERE store_item.expires_at <= ?6`
	replace = `UPDATE store_item SET version = ?3, expires_at = ?4, attributes = ?5
		WHERE partition = ?1 AND sort = ?2 AND version = ?7 AND (expires_at IS NULL OR expires_at > ?6)`

	deleteExpired = `DELETE FROM store_item WHERE (partition, sort) IN (
		SELECT partition, sort FROM store_item WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`

	insertNotifications = `INSERT INTO store_ring (partition, sort) SELECT value ->> 0, value ->> 1 FROM json_each(?)`
	deleteNotifications = `DELETE FROM store_ring WHERE seq <= ?`
	lastNotification    = `SELECT coalesce(max(seq), 0) FROM store_ring`
	selectNotifications = `SELECT seq, partition, sort FROM store_ring WHERE seq > ? ORDER BY seq LIMIT ? + 0`
	dataVersion         = `PRAGMA data_version`
)

// statements are those that run often: to parse one costs as much as to run it. They live as long as
// the connection.
type statements struct {
	upsert, create, replace, one, many, page, notify, notifications, version *sql.Stmt
}

func prepare(ctx context.Context, db *sql.DB) (s statements, err error) {
	for _, p := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&s.upsert, upsert}, {&s.create, create}, {&s.replace, replace},
		{&s.one, selectOne}, {&s.many, selectMany}, {&s.page, selectPage},
		{&s.notify, insertNotifications}, {&s.notifications, selectNotifications}, {&s.version, dataVersion},
	} {
		if *p.to, err = db.PrepareContext(ctx, p.query); err != nil {
			return s, fmt.Errorf("prepare %s: %w", p.query, err)
		}
	}
	return s, nil
}
