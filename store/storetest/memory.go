package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
)

// Memory is a table in this process's memory, for the tests of those who use one. It keeps the contract
// (the suite runs against it), never waits, starts no goroutine, and costs a hundredth of what a
// database does, so that a test can live through hours of virtual time.
type Memory struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	items    map[store.Key]store.Item
	watchers map[*watcher]bool
	closed   bool
}

// watcher is one Watch that has not ended: the keys it has yet to pass on.
type watcher struct {
	notified []store.Key
	bell     chan struct{}
}

var errTableClosed = errors.New("table is closed")

// NewMemory returns an empty table.
func NewMemory(clk clock.PassiveClock) *Memory {
	return &Memory{clock: clk, items: map[store.Key]store.Item{}, watchers: map[*watcher]bool{}}
}

// ok reports why a call cannot be served. t.mu must be held.
func (t *Memory) ok(ctx context.Context) error {
	if t.closed {
		return errTableClosed
	}
	return ctx.Err()
}

// have returns the item under k, unless it has expired. t.mu must be held.
func (t *Memory) have(k store.Key) (store.Item, bool) {
	item, ok := t.items[k]
	if !ok || item.Broken == nil && !item.ExpiresAt.IsZero() && !t.clock.Now().Before(item.ExpiresAt) {
		return store.Item{}, false
	}
	return item, true
}

// Get implements store.Table.
func (t *Memory) Get(ctx context.Context, _ store.Consistency, keys ...store.Key) ([]store.Item, error) {
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
func (t *Memory) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := item.Valid(expect); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ok(ctx); err != nil {
		return err
	}
	have, ok := t.have(item.Key)
	if errors.Is(have.Broken, store.ErrExpiry) {
		ok = ok && expect != 0
	}
	expected := expect == store.Unconditional || expect == 0 && !ok || expect > 0 && ok && have.Version == expect
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

// Place puts an item under its key as it is, of whatever version, as one that was there before.
func (t *Memory) Place(item store.Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[item.Key] = item
}

// Erase removes an item, as the service does once its expiry has passed.
func (t *Memory) Erase(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.items, k)
}

// Break gives an item an expiry that is none, as anyone who may write it can on DynamoDB.
func (t *Memory) Break(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[k] = store.Item{Key: k, Broken: fmt.Errorf("expiresAt: %w: must be a number", store.ErrExpiry)}
}

// Scan implements store.Table.
func (t *Memory) Scan(ctx context.Context, yield func(store.Item) error) error {
	t.mu.Lock()
	err := t.ok(ctx)
	keys := slices.SortedFunc(maps.Keys(t.items), func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Sort, b.Sort))
	})
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

// Notify implements store.Table. It reaches every watcher.
func (t *Memory) Notify(ctx context.Context, keys ...store.Key) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ok(ctx); err != nil {
		return err
	}
	for w := range t.watchers {
		w.notified = append(w.notified, keys...)
		select {
		case w.bell <- struct{}{}:
		default: // it has yet to look
		}
	}
	return nil
}

// Watch implements store.Table.
func (t *Memory) Watch(ctx context.Context, notify func(store.Key)) error {
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
		keys := w.notified
		w.notified = nil
		t.mu.Unlock()
		for _, k := range keys {
			notify(k)
		}
	}
	return err
}

// Close implements store.Table.
func (t *Memory) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return nil
}
