package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/remuda-run/remuda/store"
)

// pageSize is how many items are read at once: at a kilobyte each, half a megabyte, and the others' calls, which share the
// connection, wait for no more than a few milliseconds. Items of up to store.MaxForeign make it 8 MB.
const pageSize = 500

// Get implements store.Table. Every read is consistent.
func (t *Table) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) (items []store.Item, err error) {
	now := t.clock.Now().UnixMilli()
	if len(keys) == 1 {
		items, err = complete(ctx, t.stmt.whole, now, t.stmt.one, keys[0].Partition, keys[0].Sort)
		return items, classified(err)
	}
	each := slices.Compact(slices.SortedFunc(slices.Values(keys), compare)) // a key that is named twice may be in two pages
	for some := range slices.Chunk(each, pageSize) {
		page, err := complete(ctx, t.stmt.whole, now, t.stmt.many, list(some))
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
		now := t.clock.Now().UnixMilli()
		page, err := collect(t.stmt.page.QueryContext(ctx, now, last.Partition, last.Sort, pageSize))
		if err != nil {
			return classified(err)
		}
		for _, item := range page {
			items, err := large(ctx, t.stmt.whole, now, item)
			if err != nil {
				return classified(err)
			}
			for _, item := range items {
				if err := yield(item); err != nil {
					return err
				}
			}
		}
		if len(page) < pageSize {
			return nil
		}
		last = page[len(page)-1].Key
	}
}

// complete runs a query and reads what it left out.
func complete(ctx context.Context, whole *sql.Stmt, now int64, query *sql.Stmt, args ...any) (out []store.Item, _ error) {
	items, err := collect(query.QueryContext(ctx, append([]any{now}, args...)...))
	for _, item := range items {
		all, err := large(ctx, whole, now, item)
		if err != nil {
			return nil, err
		}
		out = append(out, all...)
	}
	return out, err
}

// large reads an item whose attributes a query left out since they are large. It returns none if the item is gone by now.
func large(ctx context.Context, whole *sql.Stmt, now int64, item store.Item) ([]store.Item, error) {
	if item.Attributes != nil || item.Broken != nil {
		return []store.Item{item}, nil
	}
	return collect(whole.QueryContext(ctx, now, item.Key.Partition, item.Key.Sort))
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
		var size int
		if err := rows.Scan(&item.Key.Partition, &item.Key.Sort, &item.Version, &expires, &size, &item.Attributes); err != nil {
			return nil, err
		}
		if expires.Valid {
			item.ExpiresAt = time.UnixMilli(expires.Int64).UTC()
		}
		if item.Attributes == nil && item.Key.Bounded() {
			item = store.Item{Key: item.Key, Broken: store.TooLarge(size)}
		}
		out = append(out, item)
	}
	return out, rows.Err()
}
