package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/store"
)

func putCreates(t *testing.T, table store.Table) {
	item := testItem(testKey(1), 1, 1)
	wantErr(t, "Put(expect 0)", table.Put(t.Context(), item, 0), nil)
	wantStored(t, table, item)
}

func putCreateConflicts(t *testing.T, table store.Table) {
	first := testItem(testKey(1), 1, 1)
	mustPut(t, table, 0, first)
	err := table.Put(t.Context(), testItem(testKey(1), 1, 2), 0)
	wantConflict(t, err, 0, &first)
	wantStored(t, table, first)
}

func putReplaces(t *testing.T, table store.Table) {
	first := testItem(testKey(1), 1, 1)
	first.ExpiresAt = time.Now().Add(time.Hour).Truncate(time.Second)
	first.Attributes = []byte(`{"n":1,"gone":{"deep":[1,2,3]}}`)
	mustPut(t, table, 0, first)
	second := testItem(testKey(1), 2, 2)
	wantErr(t, "Put(expect 1)", table.Put(t.Context(), second, 1), nil)
	wantStored(t, table, second) // neither the old field nor the old expiry is left
}

func putStaleVersion(t *testing.T, table store.Table) {
	key := testKey(1)
	mustPut(t, table, 0, testItem(key, 1, 1))
	second := testItem(key, 2, 2)
	mustPut(t, table, 1, second)
	for _, expect := range []int64{1, 3, 7} {
		err := table.Put(t.Context(), testItem(key, expect+1, 99), expect)
		wantConflict(t, err, expect, &second)
	}
	wantStored(t, table, second)
}

func putOverAbsent(t *testing.T, table store.Table) {
	err := table.Put(t.Context(), testItem(testKey(1), 4, 1), 3)
	wantConflict(t, err, 3, nil)
	if got := read(t, table, testKey(1)); got != nil {
		t.Errorf("Get() = %s, want nothing", got.Attributes)
	}
}

func putAny(t *testing.T, table store.Table) {
	item := testItem(testKey(1), 0, 1)
	wantErr(t, "Put(Unconditional) over nothing", table.Put(t.Context(), item, store.Unconditional), nil)
	wantStored(t, table, item)
	wantConflict(t, table.Put(t.Context(), testItem(testKey(1), 1, 2), 0), 0, &item)

	versioned := testItem(testKey(2), 1, 1)
	mustPut(t, table, 0, versioned)
	over := testItem(testKey(2), 0, 2)
	wantErr(t, "Put(Unconditional) over version 1", table.Put(t.Context(), over, store.Unconditional), nil)
	wantStored(t, table, over)
}

func putInvalid(t *testing.T, table store.Table) {
	key := testKey(1)
	mustPut(t, table, 0, testItem(key, 1, 1))
	for _, tt := range []struct {
		name   string
		expect int64
		item   store.Item
	}{
		{"NoPartition", 0, testItem(store.Key{Sort: testKind}, 1, 2)},
		{"NoSort", 0, testItem(store.Key{Partition: "TEST#x"}, 1, 2)},
		{"VersionSkipped", 1, testItem(key, 3, 2)},
		{"VersionNotRaised", 1, testItem(key, 1, 2)},
		{"CreateAtVersionTwo", 0, testItem(testKey(2), 2, 2)},
		{"UnconditionalWithVersion", store.Unconditional, testItem(key, 2, 2)},
		{"NegativeExpect", -2, testItem(key, -1, 2)},
		{"AttributesNoJSON", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`{"n":`)}},
		{"AttributesNoObject", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`[1]`)}},
		{"AttributesNull", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`null`)}},
		{"AttributesTwoObjects", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`{}{}`)}},
		{"AttributesTrailingBrace", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`{}}`)}},
		{"AttributesTrailingText", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`{} x`)}},
		{"AttributesMissing", 1, store.Item{Key: key, Version: 2}},
		{"ExpiryInParts", 1, store.Item{Key: key, Version: 2, Attributes: []byte(`{}`), ExpiresAt: epoch}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantErr(t, "Put()", table.Put(t.Context(), tt.item, tt.expect), store.ErrInvalid)
		})
	}
	wantStored(t, table, testItem(key, 1, 1))
	if got := read(t, table, testKey(2)); got != nil {
		t.Errorf("Get() = %s, want nothing", got.Attributes)
	}
}

// A call may be cancelled at any moment: afterwards the item is the old one or the new one, and
// nothing in between, and nil means that it is the new one. A back end behind a network may apply a
// cancelled write late, even after a read, but only over the version that it names.
func putCancelled(t *testing.T, table store.Table) {
	key := testKey(1)
	old := testItem(key, 1, 1)
	mustPut(t, table, 0, old)
	var unknown []store.Item // written over old, with an unknown outcome
	is := func(got *store.Item, want store.Item) bool {
		return got != nil && diffItems([]store.Item{want}, []store.Item{*got}) == ""
	}
	const rounds = 40
	for i := range rounds {
		next := testItem(key, old.Version+1, i+2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond) // 0: cancelled before
		err := table.Put(ctx, next, old.Version)
		cancel()
		conflict := errors.Is(err, store.ErrConflict)
		if !conflict {
			unknown = append(unknown, next)
		}
		got := read(t, table, key)
		applied := slices.IndexFunc(unknown, func(u store.Item) bool { return is(got, u) })
		switch {
		case err == nil && !is(got, next):
			t.Fatalf("Put() error = nil, but the item is %v", got)
		case applied >= 0:
			old, unknown = unknown[applied], nil
		case conflict:
			t.Fatalf("Put() error = %v, but the version was right: the item is %v", err, got)
		case !is(got, old):
			t.Fatalf("after a cancelled Put the item is %v, want %s or %s", got, old.Attributes, next.Attributes)
		}
	}
}

// Every version is written once, however many try.
func putConcurrent(t *testing.T, table store.Table) {
	key := testKey(1)
	mustPut(t, table, 0, testItem(key, 1, 0))
	const writers, wins = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			version := int64(1)
			for won := 0; won < wins; {
				err := table.Put(t.Context(), testItem(key, version+1, w), version)
				var conflict *store.ConflictError
				switch {
				case err == nil:
					won++
					version++
				case errors.As(err, &conflict) && conflict.Current != nil:
					version = conflict.Current.Version
				default:
					t.Errorf("Put() error = %v, want none or a conflict with an item", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := read(t, table, key); got == nil || got.Version != 1+writers*wins {
		t.Errorf("stored = %v, want version %d: one for each success", got, 1+writers*wins)
	}
}

func expiredIsAbsent(t *testing.T, table store.Table) {
	// A back end may remove expired items with a write, but hardly with each: with this one, then.
	mustPut(t, table, store.Unconditional, testItem(testKey(3), 0, 0))
	expired := testItem(testKey(1), 1, 1)
	expired.ExpiresAt = epoch.Add(-time.Hour).Truncate(time.Second)
	mustPut(t, table, 0, expired)
	if got := read(t, table, expired.Key); got != nil {
		t.Errorf("Get() = %s, want the expired item left out", got.Attributes)
	}
	err := table.Scan(t.Context(), func(item store.Item) error {
		if item.Key == expired.Key {
			t.Errorf("Scan() yields %v, want the expired item left out", item.Key)
		}
		return nil
	})
	wantErr(t, "Scan()", err, nil)
	wantConflict(t, table.Put(t.Context(), testItem(expired.Key, 2, 2), 1), 1, nil)

	again := testItem(expired.Key, 1, 3)
	wantErr(t, "Put(expect 0) over an expired item", table.Put(t.Context(), again, 0), nil)
	wantStored(t, table, again)

	expired.Version, expired.Key = 0, testKey(2)
	mustPut(t, table, store.Unconditional, expired)
	over := testItem(expired.Key, 0, 4)
	wantErr(t, "Put(Unconditional) over an expired item", table.Put(t.Context(), over, store.Unconditional), nil)
	wantStored(t, table, over)
}

func expiryIsKept(t *testing.T, table store.Table) {
	item := testItem(testKey(1), 1, 1)
	item.ExpiresAt = time.Now().Add(time.Hour).Truncate(time.Second)
	mustPut(t, table, 0, item)
	wantStored(t, table, item)
	wantConflict(t, table.Put(t.Context(), testItem(item.Key, 1, 2), 0), 0, &item)
}

// wantConflict checks that err is a *store.ConflictError about expect that carries current.
func wantConflict(t *testing.T, err error, expect int64, current *store.Item) {
	t.Helper()
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || !errors.Is(err, store.ErrConflict) {
		t.Fatalf("Put() error = %v, want a *store.ConflictError", err)
	}
	if conflict.Expect != expect || !strings.Contains(err.Error(), conflict.Key.Partition) {
		t.Errorf("conflict is about v%d of %v, want v%d", conflict.Expect, conflict.Key, expect)
	}
	switch {
	case current == nil && conflict.Current != nil:
		t.Errorf("conflict carries %s, want nothing", conflict.Current.Attributes)
	case current != nil && conflict.Current == nil:
		t.Errorf("conflict carries nothing, want %s", current.Attributes)
	case current != nil:
		if diff := diffItems([]store.Item{*current}, []store.Item{*conflict.Current}); diff != "" {
			t.Errorf("conflict carries (-want +got):\n%s", diff)
		}
	}
}
