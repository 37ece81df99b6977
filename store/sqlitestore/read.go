package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// getChunk is how many keys one statement asks for; SQLite takes 32,766 parameters (SQLite,
// "Limits"), two per key. pageSize is how many items of a scan are read at once: at a kilobyte each,
// half a megabyte, and the others' calls wait for no more than a few milliseconds.
const (
	getChunk = 500
	pageSize = 500
)

// Get implements store.Table. Every read is consistent.
func (t *Table) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) ([]store.Item, error) {
	var out []store.Item
	for chunk := range slices.Chunk(distinct(keys), getChunk) {
		args := append(make([]any, 0, 1+2*len(chunk)), t.clock.Now().UnixMilli())
		for _, k := range chunk {
			args = append(args, k.Partition, k.Sort)
		}
		var items []store.Item
		var err error
		if len(chunk) == 1 {
			items, err = collect(t.stmt.one.QueryContext(ctx, args...))
		} else {
			items, err = collect(t.db.SQL().QueryContext(ctx, selectKeys+pairs(len(chunk))+`)`, args...))
		}
		if err != nil {
			return nil, classified(err)
		}
		out = append(out, items...)
	}
	return out, nil
}

// pairs returns the placeholders of n keys.
func pairs(n int) string { return strings.Repeat(pair+`, `, n-1) + pair }

// distinct returns keys without repetitions.
func distinct(keys []store.Key) []store.Key {
	if len(keys) < 2 {
		return keys
	}
	seen := make(map[store.Key]bool, len(keys))
	out := make([]store.Key, 0, len(keys))
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// Scan implements store.Table. It reads page by page in the order of keys, so that it holds neither
// the connection nor a transaction while yield runs.
func (t *Table) Scan(ctx context.Context, yield func(store.Item) error) error {
	var last store.Key
	for {
		page, err := collect(t.stmt.page.QueryContext(ctx, t.clock.Now().UnixMilli(), last.Partition, last.Sort, pageSize))
		if err != nil {
			return classified(err)
		}
		for _, item := range page {
			if err := yield(item); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		last = page[len(page)-1].Key
	}
}

// collect reads and closes the rows of a query.
func collect(rows *sql.Rows, err error) (out []store.Item, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() // its error is that of rows.Err
	for rows.Next() {
		var item store.Item
		var expires sql.NullInt64
		if err := rows.Scan(&item.Key.Partition, &item.Key.Sort, &item.Version, &expires, &item.Attributes); err != nil {
			return nil, err
		}
		if expires.Valid {
			item.ExpiresAt = time.UnixMilli(expires.Int64).UTC()
		}
		out = append(out, item)
	}
	return out, rows.Err()
}
