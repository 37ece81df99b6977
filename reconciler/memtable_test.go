package reconciler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// MemTable is store.Table in plain memory: it keeps the contract, never waits, and costs a
// hundredth of what a database does, so that a test can live through hours of virtual time. It is
// the table of most worlds; the lifecycle runs on the real one too.
type MemTable struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	items    map[store.Key]store.Item
	watchers map[*watcher]bool
	closed   bool
}

// watcher is one Watch that has not ended: the rings it has yet to hear.
type watcher struct {
	rung []store.Key
	bell chan struct{}
}

var errTableClosed = errors.New("table is closed")

// NewMemTable returns an empty table.
func NewMemTable(clk clock.PassiveClock) *MemTable {
	return &MemTable{clock: clk, items: map[store.Key]store.Item{}, watchers: map[*watcher]bool{}}
}

// ok reports why a call cannot be served. t.mu must be held.
func (t *MemTable) ok(ctx context.Context) error {
	if t.closed {
		return errTableClosed
	}
	return ctx.Err()
}

// have returns the item under k, unless it has expired. t.mu must be held.
func (t *MemTable) have(k store.Key) (store.Item, bool) {
	item, ok := t.items[k]
	if !ok || !item.ExpiresAt.IsZero() && !t.clock.Now().Before(item.ExpiresAt) {
		return store.Item{}, false
	}
	return item, true
}

// Get implements store.Table.
func (t *MemTable) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) ([]store.Item, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ok(ctx); err != nil {
		return nil, err
	}
	var out []store.Item
	asked := map[store.Key]bool{}
	for _, k := range keys {
		if item, ok := t.have(k); ok && !asked[k] {
			out = append(out, item)
		}
		asked[k] = true
	}
	return out, nil
}

// Put implements store.Table.
func (t *MemTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key.Partition == "" || item.Key.Sort == "" || expect < store.Any ||
		item.Version != expect+1 || !item.ExpiresAt.Equal(item.ExpiresAt.Truncate(time.Second)) ||
		!bytes.HasPrefix(bytes.TrimSpace(item.Attributes), []byte("{")) || !json.Valid(item.Attributes) {
		return fmt.Errorf("put %v: %w", item.Key, store.ErrInvalid)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ok(ctx); err != nil {
		return err
	}
	have, ok := t.have(item.Key)
	expected := expect == store.Any || expect == 0 && !ok || expect > 0 && ok && have.Version == expect
	if !expected {
		conflict := &store.ConflictError{Key: item.Key, Expect: expect}
		if ok {
			conflict.Current = &have
		}
		return conflict
	}
	item.Attributes = bytes.Clone(item.Attributes)
	t.items[item.Key] = item
	return nil
}

// Erase removes an item, as the service does once its expiry has passed.
func (t *MemTable) Erase(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.items, k)
}

// Scan implements store.Table.
func (t *MemTable) Scan(ctx context.Context, yield func(store.Item) error) error {
	t.mu.Lock()
	err := t.ok(ctx)
	keys := slices.Collect(maps.Keys(t.items))
	t.mu.Unlock()
	for _, k := range keys {
		if err != nil {
			return err
		}
		t.mu.Lock()
		item, ok := t.have(k)
		t.mu.Unlock()
		if ok {
			err = yield(item)
		}
	}
	return err
}

// Ring implements store.Table. It reaches every watcher.
func (t *MemTable) Ring(ctx context.Context, keys ...store.Key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ok(ctx); err != nil {
		return err
	}
	for w := range t.watchers {
		w.rung = append(w.rung, keys...)
		select {
		case w.bell <- struct{}{}:
		default: // it has yet to look
		}
	}
	return nil
}

// Watch implements store.Table.
func (t *MemTable) Watch(ctx context.Context, ring func(store.Key)) error {
	w := &watcher{bell: make(chan struct{}, 1)}
	t.mu.Lock()
	err := t.ok(context.WithoutCancel(ctx))
	t.watchers[w] = true
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, w)
	}()
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-w.bell:
		}
		t.mu.Lock()
		rung := w.rung
		w.rung = nil
		t.mu.Unlock()
		for _, k := range rung {
			ring(k)
		}
	}
	return err
}

// Close implements store.Table.
func (t *MemTable) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return nil
}

func TestMemTable_KeepsTheContract(t *testing.T) {
	storetest.Run(t, func(testing.TB) store.Table { return NewMemTable(clock.RealClock{}) })
}
