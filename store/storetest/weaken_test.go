package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
	"github.com/remuda-run/remuda/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openMemory(t testing.TB) store.Table {
	t.Helper()
	table, err := sqlitestore.OpenMemory(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// The suite itself must pass on the weakest table that still answers every call.
func TestRun_PassesOnAWeakTable(t *testing.T) {
	storetest.Run(t, func(t testing.TB) store.Table {
		return storetest.Weaken(openMemory(t), storetest.Weakness{
			Seed: 1, StaleRead: 0.5, LostNotification: 0.4, LateNotification: 0.3, RepeatedNotification: 0.3,
		})
	})
}

func item(version int64) store.Item {
	return store.Item{Key: store.Key{Partition: "TEST#1", Sort: "TYPE#Test"}, Version: version, Attributes: fmt.Appendf(nil, `{"n":%d}`, version)}
}

func put(t *testing.T, table store.Table, version int64) {
	t.Helper()
	if err := table.Put(t.Context(), item(version), version-1); err != nil {
		t.Fatal(err)
	}
}

// versions returns the versions that a read of the one item finds.
func versions(t *testing.T, table store.Table, c store.Consistency) []int64 {
	t.Helper()
	items, err := table.Get(t.Context(), c, item(1).Key)
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	for _, it := range items {
		out = append(out, it.Version)
	}
	return out
}

func TestWeaken_StaleRead(t *testing.T) {
	inner := openMemory(t)
	defer inner.Close()
	table := storetest.Weaken(inner, storetest.Weakness{StaleRead: 1})
	want := func(when string, eventual, consistent []int64) {
		t.Helper()
		if got := versions(t, table, store.Eventual); !slices.Equal(got, eventual) {
			t.Errorf("%s: Get(Eventual) = versions %v, want %v", when, got, eventual)
		}
		if got := versions(t, table, store.Consistent); !slices.Equal(got, consistent) {
			t.Errorf("%s: Get(Consistent) = versions %v, want %v", when, got, consistent)
		}
	}
	put(t, table, 1)
	want("after the first write", nil, []int64{1})
	put(t, table, 2)
	want("after the second", []int64{1}, []int64{2})
	put(t, table, 3)
	want("after the third", []int64{2}, []int64{3})

	table = storetest.Weaken(inner, storetest.Weakness{StaleRead: 1})
	want("when nothing older is known", []int64{3}, []int64{3})
}

func TestWeaken_LostReply_H13(t *testing.T) {
	inner := openMemory(t)
	defer inner.Close()
	table := storetest.Weaken(inner, storetest.Weakness{LostReply: 1})
	if err := table.Put(t.Context(), item(1), 0); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Put() error = %v, want %v", err, store.ErrUnavailable)
	}
	if got := versions(t, inner, store.Consistent); !slices.Equal(got, []int64{1}) {
		t.Errorf("stored versions = %v, want the write to have taken effect", got)
	}
	if err := table.Put(t.Context(), item(1), 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Put() error = %v, want the conflict returned as it is", err)
	}
}

// recordingTable is a table that only takes notifications.
type recordingTable struct {
	store.Table
	notified []string
}

func (r *recordingTable) Notify(_ context.Context, keys ...store.Key) error {
	for _, k := range keys {
		r.notified = append(r.notified, k.Partition)
	}
	return nil
}

func TestWeaken_Notifications(t *testing.T) {
	for _, tt := range []struct {
		name     string
		weakness storetest.Weakness
		want     []string
	}{
		{"Faithful", storetest.Weakness{}, []string{"a", "b", "c"}},
		{"Lost", storetest.Weakness{LostNotification: 1}, nil},
		{"Repeated", storetest.Weakness{RepeatedNotification: 1}, []string{"a", "a", "b", "b", "c", "c"}},
		{"Late", storetest.Weakness{LateNotification: 1}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inner := &recordingTable{}
			table := storetest.Weaken(inner, tt.weakness)
			for _, name := range []string{"a", "b", "c"} {
				if err := table.Notify(t.Context(), store.Key{Partition: name, Sort: "TYPE#Test"}); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(inner.notified, tt.want) {
				t.Errorf("notified of %v, want %v", inner.notified, tt.want)
			}
		})
	}
}

// A failing seed can be replayed.
func TestWeaken_SeedDecidesTheFaults(t *testing.T) {
	faults := func(seed uint64) (notified []int) {
		inner := &recordingTable{}
		table := storetest.Weaken(inner, storetest.Weakness{Seed: seed, LostNotification: 0.5})
		for range 64 {
			if err := table.Notify(t.Context(), item(1).Key); err != nil {
				t.Fatal(err)
			}
			notified = append(notified, len(inner.notified))
		}
		return notified
	}
	if !slices.Equal(faults(7), faults(7)) {
		t.Error("one seed gave two sequences of faults")
	}
	if slices.Equal(faults(7), faults(8)) {
		t.Error("two seeds gave the same sequence of faults")
	}
}
