package sim

import (
	"bytes"
	"context"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// An expired item counts as absent. DynamoDB removes it up to days later; until then it is the back end in each process that
// hides it, by that process's clock (Script.LateExpiry).

// lateExpiry is how late. "Typically within a few days" (DynamoDB, "Time to Live").
const lateExpiry = 48 * time.Hour

// newTable returns the store below all gates.
func (o Script) newTable(clk clock.WithTicker) *storetest.Memory {
	if o.LateExpiry {
		clk = offset{clk, -lateExpiry}
	}
	return storetest.NewMemory(clk)
}

// current hides what has expired by the clock of the process.
func (g tableGate) current(items []store.Item) []store.Item {
	if !g.p.w.o.LateExpiry {
		return items
	}
	return slices.DeleteFunc(items, g.expired)
}

// hides is how far the clocks may be off that tell processes what has expired.
func (c *clocks) hides() time.Duration {
	if !c.w.o.LateExpiry {
		return 0 // the store does
	}
	return c.skew() + c.mostSet()
}

func (g tableGate) expired(item store.Item) bool {
	return expiredAt(item, g.p.clk.Now())
}

func expiredAt(item store.Item, now time.Time) bool {
	return item.Broken == nil && !item.ExpiresAt.IsZero() && !now.Before(item.ExpiresAt)
}

// makeRoom removes what has expired and is not removed yet, where something new is to be.
func (g tableGate) makeRoom(ctx context.Context, k store.Key, expect int64) {
	if !g.p.w.o.LateExpiry || expect != 0 {
		return
	}
	if items, err := g.inner.Get(ctx, store.Consistent, k); err == nil && len(items) == 1 && g.expired(items[0]) {
		g.p.w.table.Erase(k)
	}
}

// laterField is one that a later version may write. Every second record that is read has it.
var laterField = []byte(`,"ofALaterVersion":{"kind":"unknown","values":[1,2]}}`)

// asLater returns items as a later version may have written them.
func (w *World) asLater(items []store.Item) []store.Item {
	if !w.o.Later {
		return items
	}
	out := slices.Clone(items)
	for i, item := range out {
		if text := bytes.TrimSpace(item.Attributes); item.Version%2 != 0 && len(text) > len("{}") {
			out[i].Attributes = slices.Concat(text[:len(text)-1], laterField)
		}
	}
	return out
}

// seen is the table as somebody sees it whose clock is right.
type seen struct {
	store.Table

	w *World
}

func (s seen) Scan(ctx context.Context, yield func(store.Item) error) error {
	return s.Table.Scan(ctx, func(item store.Item) error {
		if expiredAt(item, s.w.clock.Now()) {
			return nil
		}
		return yield(item)
	})
}
