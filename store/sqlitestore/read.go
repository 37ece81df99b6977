package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/remuda-run/remuda/store"
)

// pageSize is how many items are read at once: at a kilobyte each, half a megabyte, and the others' calls, which share the
// connection, wait for no more than a few milliseconds. A page ends early with the item that exceeds pageBytes.
const (
	pageSize  = 500
	pageBytes = 2 << 20
)

// Get implements store.Table. Every read is consistent.
func (t *Table) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) (items []store.Item, err error) {
	now := t.clock.Now().UnixMilli()
	if len(keys) == 1 {
		items, _, err = read(ctx, math.MaxInt, t.stmt.one, now, keys[0].Partition, keys[0].Sort)
		return items, classified(err)
	}
	each := slices.Compact(slices.SortedFunc(slices.Values(keys), compare)) // a key that is named twice may be in two pages
	for some := range slices.Chunk(each, pageSize) {
		page, _, err := read(ctx, math.MaxInt, t.stmt.many, now, list(some))
		if err != nil {
			return nil, classified(err)
		}
		items = append(items, page...)
	}
	return items, nil
}

func compare(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Sort, b.Sort))
}

// list returns keys, which are UTF-8 as all of ours, as the statements take them that are for many: a JSON array of pairs.
func list(keys []store.Key) string {
	pairs := make([][2]string, len(keys))
	for i, k := range keys {
		pairs[i] = [2]string{k.Partition, k.Sort}
	}
	text, _ := json.Marshal(pairs) // of strings: no error
	return string(text)
}

// Scan implements store.Table. It reads page by page in the order of keys, so that it holds neither
// the connection nor a transaction while yield runs.
func (t *Table) Scan(ctx context.Context, yield func(store.Item) error) error {
	var last store.Key
	for {
		page, stopped, err := read(ctx, pageBytes, t.stmt.page, t.clock.Now().UnixMilli(), last.Partition, last.Sort, pageSize)
		if err != nil {
			return classified(err)
		}
		for _, item := range page {
			if err := yield(item); err != nil {
				return err
			}
		}
		if len(page) < pageSize && !stopped {
			return nil
		}
		last = page[len(page)-1].Key
	}
}

// read runs a query and returns its items. It stops after the item with which they exceed most bytes, and reports whether it did.
func read(ctx context.Context, most int, query *sql.Stmt, args ...any) (out []store.Item, stopped bool, _ error) {
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close() // its error is that of rows.Err
	for !stopped && rows.Next() {
		var item store.Item
		var expires sql.NullInt64
		var size int
		if err := rows.Scan(&item.Key.Partition, &item.Key.Sort, &item.Version, &expires, &size, &item.Attributes); err != nil {
			return nil, false, err
		}
		if expires.Valid {
			item.ExpiresAt = time.UnixMilli(expires.Int64).UTC()
		}
		if item.Attributes == nil {
			item = store.Item{Key: item.Key, Broken: store.TooLarge(size)}
		}
		most -= len(item.Attributes)
		stopped = most < 0
		out = append(out, item)
	}
	return out, stopped, rows.Err()
}
