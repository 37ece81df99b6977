package agent_test

import (
	"context"
	"sync"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// table is a table in memory that keeps the version before the last of each item.
type table struct {
	*storetest.Memory
	mu  sync.Mutex
	old map[store.Key]store.Item
}

func newTable() *table {
	return &table{Memory: storetest.NewMemory(clock.RealClock{}), old: map[store.Key]store.Item{}}
}

func (t *table) Put(ctx context.Context, item store.Item, expect int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, err := t.Memory.Get(ctx, store.Consistent, item.Key)
	if err == nil {
		err = t.Memory.Put(ctx, item, expect)
	}
	if err == nil && len(old) > 0 {
		t.old[item.Key] = old[0]
	}
	return err
}

func (t *table) before(k store.Key) (store.Item, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, ok := t.old[k]
	return old, ok
}

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
	denied         // nothing happens, and nothing will until someone repairs it
	lost           // it happens, an error comes back
	stale          // a read sees the version before the last
	absent         // a read sees nothing
)

func (w *weak) set(hook func(context.Context, call) verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// setFor lets a hook decide the calls that match; all others are fine.
func (w *weak) setFor(match func(call) bool, hook func(context.Context) verdict) {
	w.set(func(ctx context.Context, c call) verdict {
		if match(c) {
			return hook(ctx)
		}
		return fine
	})
}

// always decides all calls alike.
func always(v verdict) func(context.Context) verdict {
	return func(context.Context) verdict { return v }
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
