package agent_test

import (
	"context"
	"sync"

	"github.com/remuda-run/remuda/store"
)

// table is a store.Table in memory.
type table struct {
	mu    sync.Mutex
	items map[store.Key][]store.Item // the last two versions, the newest last
}

func newTable() *table { return &table{items: make(map[store.Key][]store.Item)} }

func (t *table) Get(_ context.Context, _ store.Consistency, keys ...store.Key) ([]store.Item, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []store.Item
	for _, k := range keys {
		if all := t.items[k]; len(all) > 0 {
			out = append(out, all[len(all)-1])
		}
	}
	return out, nil
}

func (t *table) Put(_ context.Context, item store.Item, expect int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var current *store.Item
	if all := t.items[item.Key]; len(all) > 0 {
		current = &all[len(all)-1]
	}
	if expect != store.Any && (expect == 0) != (current == nil) || expect > 0 && current.Version != expect {
		return &store.ConflictError{Key: item.Key, Expect: expect, Current: current}
	}
	all := append(t.items[item.Key], item)
	t.items[item.Key] = all[max(0, len(all)-2):]
	return nil
}

func (t *table) remove(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.items, k)
}

func (t *table) before(k store.Key) (store.Item, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.items[k]
	if len(all) < 2 {
		return store.Item{}, false
	}
	return all[len(all)-2], true
}

func (t *table) Scan(context.Context, func(store.Item) error) error { return nil }
func (t *table) Ring(context.Context, ...store.Key) error           { return nil }
func (t *table) Watch(ctx context.Context, _ func(store.Key)) error { <-ctx.Done(); return nil }
func (t *table) Close() error                                       { return nil }

// call is one call of the agent on its table.
type call struct {
	put bool
	key store.Key
	c   store.Consistency
}

// weak is the table as the agent sees it. What a hook returns decides the call.
type weak struct {
	*table
	mu    sync.Mutex
	hook  func(ctx context.Context, c call) verdict
	calls []call
}

// verdict is what happens to one call.
type verdict int

const (
	fine   verdict = iota
	down           // nothing happens, an error comes back
	denied         // nothing happens, and nothing will until somebody mends it
	lost           // it happens, an error comes back
	stale          // a read sees the version before the last
	absent         // a read sees nothing
)

func (w *weak) set(hook func(context.Context, call) verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

func (w *weak) ask(ctx context.Context, c call) verdict {
	w.mu.Lock()
	hook := w.hook
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	if hook == nil {
		return fine
	}
	return hook(ctx, c)
}

func (w *weak) count(match func(call) bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.calls {
		if match(c) {
			n++
		}
	}
	return n
}

func (w *weak) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	v := w.ask(ctx, call{key: keys[0], c: c})
	switch v {
	case denied:
		return nil, store.ErrRefused
	case down, lost:
		return nil, store.ErrUnavailable
	case absent:
		return nil, nil
	case stale:
		if item, ok := w.before(keys[0]); ok && c == store.Eventual {
			return []store.Item{item}, nil
		}
	case fine:
	}
	return w.table.Get(ctx, c, keys...)
}

func (w *weak) Put(ctx context.Context, item store.Item, expect int64) error {
	switch w.ask(ctx, call{put: true, key: item.Key}) {
	case denied:
		return store.ErrRefused
	case down:
		return store.ErrUnavailable
	case lost:
		if err := w.table.Put(ctx, item, expect); err != nil {
			return err
		}
		return store.ErrUnavailable
	case fine, stale, absent:
	}
	return w.table.Put(ctx, item, expect)
}
