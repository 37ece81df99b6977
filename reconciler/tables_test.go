package reconciler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Tables that do what a test says, between a controller and the store.

// instanceIn is the instance that an item is of, if it is of one.
func instanceIn(item store.Item) (in store.Instance, ok bool) {
	ok = item.Key.Sort == store.KindInstance && json.Unmarshal(item.Attributes, &in) == nil
	return in, ok
}

// held is a table whose writes a test sees before they are made, holds up, or refuses.
type held struct {
	store.Table
	before func(ctx context.Context, item store.Item) error
}

func (h held) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := h.before(ctx, item); err != nil {
		return err
	}
	return h.Table.Put(ctx, item, expect)
}

// refusing is a table that takes none of some records of instances while a test says so, and everything else.
type refusing struct {
	store.Table
	match func(store.Instance) bool
	on    atomic.Bool
	mu    sync.Mutex
	seen  func(store.Item) // of what it takes, with mu held; nil: nothing to see
}

func (r *refusing) Put(ctx context.Context, item store.Item, expect int64) error {
	if in, ok := instanceIn(item); ok && r.on.Load() && r.match(in) {
		return fmt.Errorf("put: credentials have expired: %w", store.ErrRefused)
	}
	err := r.Table.Put(ctx, item, expect)
	if err == nil && r.seen != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen(item)
	}
	return err
}

func ofState(s statemachine.State) func(store.Instance) bool {
	return func(in store.Instance) bool { return in.State == s }
}

// heldWrite is a table on which one write of an instance takes its time.
type heldWrite struct {
	store.Table
	clock clock.Clock
	match func(store.Instance) bool
	lasts time.Duration
	held  atomic.Bool
}

func (h *heldWrite) Put(ctx context.Context, item store.Item, expect int64) error {
	if in, ok := instanceIn(item); ok && h.match(in) && h.held.CompareAndSwap(false, true) {
		h.clock.Sleep(h.lasts)
	}
	return h.Table.Put(ctx, item, expect)
}

// drowsy is a table whose first scan takes its time.
type drowsy struct {
	store.Table

	takes time.Duration
	done  atomic.Bool
}

func (d *drowsy) Scan(ctx context.Context, yield func(store.Item) error) error {
	if !d.done.Swap(true) {
		time.Sleep(d.takes)
	}
	return d.Table.Scan(ctx, yield)
}
