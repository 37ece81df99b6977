package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/store"
)

// testKind is the sort key of items that are no records.
const testKind = "TYPE#Test"

func testKey(n int) store.Key {
	return store.Key{Partition: fmt.Sprintf("TEST#%05d", n), Sort: testKind}
}

// testItem returns an item whose attributes hold n.
func testItem(key store.Key, version int64, n int) store.Item {
	return store.Item{Key: key, Version: version, Attributes: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// mustPut stores items at once. Nothing may be wrong with them.
func mustPut(t testing.TB, table store.Table, expect int64, items ...store.Item) {
	t.Helper()
	const writers = 16
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for _, item := range items {
		group.Go(func() error { return table.Put(ctx, item, expect) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("Put() error = %v", err)
	}
}

// Filler is a table that takes thousands of items in less than a call each.
type Filler interface {
	// Fill stores items unconditionally, as Put would.
	Fill(ctx context.Context, items ...store.Item) error
}

// mustFill stores what a test is going to read.
func mustFill(t testing.TB, table store.Table, items ...store.Item) {
	t.Helper()
	f, ok := table.(Filler)
	if !ok {
		mustPut(t, table, store.Unconditional, items...)
		return
	}
	if err := f.Fill(t.Context(), items...); err != nil {
		t.Fatalf("Fill() error = %v", err)
	}
}

// read returns the stored item, nil if there is none.
func read(t testing.TB, table store.Table, key store.Key) *store.Item {
	t.Helper()
	items, err := table.Get(context.WithoutCancel(t.Context()), store.Consistent, key)
	if err != nil {
		t.Fatalf("Get(%v) error = %v", key, err)
	}
	switch len(items) {
	case 0:
		return nil
	case 1:
		return &items[0]
	}
	t.Fatalf("Get(%v) returned %d items, want at most 1", key, len(items))
	return nil
}

// wantStored checks what is stored under want's key.
func wantStored(t testing.TB, table store.Table, want store.Item) {
	t.Helper()
	got := read(t, table, want.Key)
	if got == nil {
		t.Fatalf("Get(%v) = nothing, want %s", want.Key, want.Attributes)
	}
	if diff := diffItems([]store.Item{want}, []store.Item{*got}); diff != "" {
		t.Fatalf("Get(%v) (-want +got):\n%s", want.Key, diff)
	}
}

// diffItems compares items as sets; back ends may return attributes with their keys in any order.
func diffItems(want, got []store.Item) string {
	type comparable struct {
		Key       store.Key
		Version   int64
		ExpiresAt int64
		Fields    map[string]any
	}
	convert := func(items []store.Item) []comparable {
		out := make([]comparable, 0, len(items))
		for _, item := range items {
			c := comparable{Key: item.Key, Version: item.Version}
			if !item.ExpiresAt.IsZero() {
				c.ExpiresAt = item.ExpiresAt.UnixMilli()
			}
			if err := json.Unmarshal(item.Attributes, &c.Fields); err != nil {
				c.Fields = map[string]any{"invalid": string(item.Attributes)}
			}
			out = append(out, c)
		}
		slices.SortFunc(out, func(a, b comparable) int {
			return strings.Compare(a.Key.Partition+a.Key.Sort, b.Key.Partition+b.Key.Sort)
		})
		return out
	}
	return cmp.Diff(convert(want), convert(got))
}

// epoch is the time that records in tests are written at. No back end looks at it.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
