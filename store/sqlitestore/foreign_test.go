package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
)

// No read returns the attributes of a large foreign item. Every read returns the controller's own large records completely.
func TestLargeItems_ForeignAreBroken_Review_S2(t *testing.T) {
	table := open(t, filepath.Join(t.TempDir(), "remuda.db"), clock.RealClock{})
	defer table.Close()
	large := []byte(`{"x":"` + strings.Repeat("x", 390_000) + `"}`)
	foreign := store.Item{Key: store.RequestKey("1", store.KindRunRequest), Version: 1, Attributes: large}
	own := store.Item{Key: store.RequestKey("1", store.KindRunStatus), Version: 1, Attributes: large}
	small := store.Item{Key: store.RequestKey("2", store.KindRunRequest), Version: 1, Attributes: []byte(`{}`)}
	for _, item := range []store.Item{foreign, own, small} {
		if err := table.Put(t.Context(), item, 0); err != nil {
			t.Fatal(err)
		}
	}
	check := func(how string, items ...store.Item) {
		t.Helper()
		for _, item := range items {
			switch item.Key {
			case foreign.Key:
				if item.Broken == nil || item.Attributes != nil || !strings.Contains(item.Broken.Error(), "at most 16384 bytes, got 390008") {
					t.Errorf("%s: %d bytes, broken by %v", how, len(item.Attributes), item.Broken)
				}
			case own.Key:
				if item.Broken != nil || len(item.Attributes) != len(large) || item.Version != 1 {
					t.Errorf("%s: own: %d bytes, broken by %v", how, len(item.Attributes), item.Broken)
				}
			}
		}
	}
	for _, item := range []store.Item{foreign, own, small} {
		one, err := table.Get(t.Context(), store.Consistent, item.Key)
		if err != nil || len(one) != 1 {
			t.Fatalf("Get() = %d items, %v", len(one), err)
		}
		check("Get", one...)
		var conflict *store.ConflictError
		if err := table.Put(t.Context(), item, 0); !errors.As(err, &conflict) || conflict.Current == nil {
			t.Fatalf("Put() = %v", err)
		}
		check("Put", *conflict.Current)
	}
	many, err := table.Get(t.Context(), store.Consistent, foreign.Key, own.Key, small.Key)
	if err != nil || len(many) != 3 {
		t.Fatalf("Get() = %d items, %v", len(many), err)
	}
	check("Get of many", many...)
	n := 0
	err = table.Scan(t.Context(), func(item store.Item) error {
		n++
		check("Scan", item)
		return nil
	})
	if err != nil || n != 3 {
		t.Fatalf("Scan() = %d items, %v", n, err)
	}
}
