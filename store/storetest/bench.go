package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Bench measures a back end. Every benchmark works on a table of its own.
func Bench(b *testing.B, open Factory) {
	b.Run("Put/Create", func(b *testing.B) { benchCreate(b, opened(b, open)) })
	b.Run("Put/Replace", func(b *testing.B) { benchReplace(b, opened(b, open)) })
	b.Run("Put/Conflict", func(b *testing.B) { benchConflict(b, opened(b, open)) })
	b.Run("Get/1", func(b *testing.B) { benchGet(b, opened(b, open), 1) })
	b.Run("Get/100", func(b *testing.B) { benchGet(b, opened(b, open), 100) })
	b.Run("Scan/10000", func(b *testing.B) { benchScan(b, opened(b, open), 10_000) })
	b.Run("Store/ClaimAndReturn", func(b *testing.B) { benchClaim(b, opened(b, open)) })
	b.Run("Store/Beat", func(b *testing.B) { benchBeat(b, opened(b, open)) })
	b.Run("Notify", func(b *testing.B) { benchNotify(b, opened(b, open)) })
}

// benchItem returns an item of the size of an instance's record.
func benchItem(b *testing.B, n int, version int64) store.Item {
	in := sampleInstance(n)
	in.Version = version
	return instanceItem(b, in)
}

func benchCreate(b *testing.B, table store.Table) {
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := table.Put(b.Context(), benchItem(b, int(n.Add(1)), 1), 0); err != nil {
				b.Error(err)
			}
		}
	})
}

func benchReplace(b *testing.B, table store.Table) {
	mustPut(b, table, 0, benchItem(b, 1, 1))
	for version := int64(1); b.Loop(); version++ {
		if err := table.Put(b.Context(), benchItem(b, 1, version+1), version); err != nil {
			b.Fatal(err)
		}
	}
}

func benchConflict(b *testing.B, table store.Table) {
	mustPut(b, table, 0, benchItem(b, 1, 1))
	stale := benchItem(b, 1, 8)
	for b.Loop() {
		if err := table.Put(b.Context(), stale, 7); err == nil {
			b.Fatal("a stale write succeeded")
		}
	}
}

func benchGet(b *testing.B, table store.Table, keys int) {
	ask := make([]store.Key, keys)
	for n := range keys {
		item := benchItem(b, n, 1)
		ask[n] = item.Key
		mustPut(b, table, 0, item)
	}
	for b.Loop() {
		if items, err := table.Get(b.Context(), store.Consistent, ask...); err != nil || len(items) != keys {
			b.Fatal(len(items), err)
		}
	}
}

func benchScan(b *testing.B, table store.Table, records int) {
	items := make([]store.Item, records)
	for n := range items {
		items[n] = benchItem(b, n, 1)
	}
	mustPut(b, table, 0, items...)
	s := store.New(table)
	for b.Loop() {
		seen := 0
		if err := s.Scan(b.Context(), store.Visitor{Instance: func(store.Instance) { seen++ }}); err != nil || seen != records {
			b.Fatal(seen, err)
		}
	}
}

// benchClaim measures the writes of a warm start and of the return: claimed, unclaimed, pooled.
func benchClaim(b *testing.B, table store.Table) {
	s := store.New(table)
	in := pooledInstance(b, s)
	for n := 0; b.Loop(); n++ {
		in = moved(b, s, in, store.Transition{Event: statemachine.Claim, Now: epoch, Limit: time.Hour, RunID: store.RequestID(fmt.Sprint(n)), Attempt: 1})
		in = moved(b, s, in, store.Transition{Event: statemachine.Unclaimed, Now: epoch, Limit: time.Hour})
		in = moved(b, s, in, store.Transition{Event: statemachine.Pooled, Now: epoch, Limit: time.Hour})
	}
}

func benchBeat(b *testing.B, table store.Table) {
	s := store.New(table)
	now := time.Now()
	for b.Loop() {
		if err := s.Beat(b.Context(), "i-1", store.Beat{Assignment: 1, Runner: "online"}, now); err != nil {
			b.Fatal(err)
		}
	}
}

func benchNotify(b *testing.B, table store.Table) {
	for b.Loop() {
		if err := table.Notify(b.Context(), testKey(1)); err != nil {
			b.Fatal(err)
		}
	}
}
