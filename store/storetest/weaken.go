package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/remuda-run/remuda/store"
)

// Weakness makes a table as weak as the contract allows. Chances are from 0 to 1. The same seed and
// the same order of calls give the same faults; tests print the seed when they fail.
type Weakness struct {
	Seed                 uint64
	StaleRead            float64 // that Get(Eventual) returns an item as it was before its last write
	LostReply            float64 // that Put commits and returns store.ErrUnavailable
	LostNotification     float64 // that a notification reaches no one
	LateNotification     float64 // that a notification is held back until the next one
	RepeatedNotification float64 // that a notification comes twice
}

// Weaken returns table with w. Closing it closes table.
func Weaken(table store.Table, w Weakness) store.Table {
	return &weak{
		Table: table, w: w, rand: rand.New(rand.NewPCG(w.Seed, 0)),
		last: map[store.Key]*store.Item{}, before: map[store.Key]*store.Item{},
	}
}

type weak struct {
	store.Table // Scan and Watch are as they are: consistent, and a hint
	w           Weakness
	closed      atomic.Bool

	mu     sync.Mutex
	rand   *rand.Rand
	last   map[store.Key]*store.Item // last write of each key through this table
	before map[store.Key]*store.Item // the one before; nil: none known
	late   []store.Key               // notifications held back
}

// happens draws whether a fault of the given chance occurs now.
func (t *weak) happens(chance float64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return chance > 0 && t.rand.Float64() < chance
}

// Get implements store.Table.
func (t *weak) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := t.Table.Get(ctx, c, keys...)
	if err != nil || c == store.Consistent || t.w.StaleRead == 0 {
		return items, err
	}
	fresh := items[:0]
	for _, item := range items {
		if t.happens(t.w.StaleRead) {
			old, known := t.previous(item.Key)
			if known && old == nil {
				continue
			}
			if old != nil {
				item = *old
			}
		}
		fresh = append(fresh, item)
	}
	return fresh, nil
}

// previous returns the item as it was before its last write, nil if that created it. known is
// false if this table has not seen a write of it.
func (t *weak) previous(key store.Key) (old *store.Item, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, known = t.before[key]
	return old, known
}

// Put implements store.Table.
func (t *weak) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := t.Table.Put(ctx, item, expect); err != nil {
		return err
	}
	t.mu.Lock()
	t.before[item.Key], t.last[item.Key] = t.last[item.Key], &item
	t.mu.Unlock()
	if t.happens(t.w.LostReply) {
		return fmt.Errorf("put %s %s: reply lost: %w", item.Key.Partition, item.Key.Sort, store.ErrUnavailable)
	}
	return nil
}

// Notify implements store.Table.
func (t *weak) Notify(ctx context.Context, keys ...store.Key) error {
	if t.closed.Load() { // one that is lost would not learn that from the table below
		return errTableClosed
	}
	t.mu.Lock()
	out := t.late
	t.late = nil
	t.mu.Unlock()
	for _, k := range keys {
		switch {
		case t.happens(t.w.LostNotification):
		case t.happens(t.w.LateNotification):
			t.mu.Lock()
			t.late = append(t.late, k)
			t.mu.Unlock()
		case t.happens(t.w.RepeatedNotification):
			out = append(out, k, k)
		default:
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return t.Table.Notify(ctx, out...)
}

// Close implements store.Table.
func (t *weak) Close() error {
	t.closed.Store(true)
	return t.Table.Close()
}
