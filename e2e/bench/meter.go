package bench

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// Usage is what was asked of a store, in calls and in the units that DynamoDB would charge.
type Usage struct {
	Puts       map[string]int // tries, by kind of record
	Conflicts  int            // of these
	Gets       int            // calls
	Items      int            // asked for by them
	Scans      int
	Notified   int // keys
	WriteUnits float64
	ReadUnits  float64 // of Get alone
}

// Writes sums the puts of some kinds of record, of all if none are named.
func (u Usage) Writes(kinds ...string) int {
	n := 0
	for kind, puts := range u.Puts {
		if len(kinds) == 0 || slices.Contains(kinds, kind) {
			n += puts
		}
	}
	return n
}

// Since returns what was asked after u0.
func (u Usage) Since(u0 Usage) Usage {
	out := Usage{
		Puts: map[string]int{}, Conflicts: u.Conflicts - u0.Conflicts, Gets: u.Gets - u0.Gets, Items: u.Items - u0.Items,
		Scans: u.Scans - u0.Scans, Notified: u.Notified - u0.Notified,
		WriteUnits: u.WriteUnits - u0.WriteUnits, ReadUnits: u.ReadUnits - u0.ReadUnits,
	}
	for kind, n := range u.Puts {
		if n -= u0.Puts[kind]; n != 0 {
			out.Puts[kind] = n
		}
	}
	return out
}

// Meter counts the calls of any number of tables. The zero Meter is ready.
type Meter struct {
	mu sync.Mutex
	u  Usage
}

// Usage returns the counts so far.
func (m *Meter) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.u
	out.Puts = maps.Clone(m.u.Puts)
	return out
}

// Count returns table with its calls counted.
func (m *Meter) Count(table store.Table) store.Table { return counted{table, m} }

type counted struct {
	store.Table
	m *Meter
}

func (c counted) Put(ctx context.Context, item store.Item, expect int64) error {
	err := c.Table.Put(ctx, item, expect)
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.u.Puts == nil {
		c.m.u.Puts = map[string]int{}
	}
	c.m.u.Puts[item.Key.Sort]++
	c.m.u.WriteUnits += units(item, 1<<10)
	if errors.Is(err, store.ErrConflict) {
		c.m.u.Conflicts++
	}
	return err
}

func (c counted) Get(ctx context.Context, how store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := c.Table.Get(ctx, how, keys...)
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.u.Gets++
	c.m.u.Items += len(keys)
	read := float64(len(keys) - len(items)) // what is absent costs as much as the smallest item
	for _, item := range items {
		read += units(item, 4<<10)
	}
	if how == store.Eventual {
		read /= 2
	}
	c.m.u.ReadUnits += read
	return items, err
}

func (c counted) Scan(ctx context.Context, yield func(store.Item) error) error {
	c.m.mu.Lock()
	c.m.u.Scans++
	c.m.mu.Unlock()
	return c.Table.Scan(ctx, yield)
}

func (c counted) Notify(ctx context.Context, keys ...store.Key) error {
	c.m.mu.Lock()
	c.m.u.Notified += len(keys)
	c.m.mu.Unlock()
	return c.Table.Notify(ctx, keys...)
}

// units is how many units of so many bytes an item fills (DynamoDB Developer Guide, "Read and write
// operations": 1 KB per write, 4 KB per consistent read, an eventual read costs half).
func units(item store.Item, bytes int) float64 {
	size := len(item.Key.Partition) + len(item.Key.Sort) + len(item.Attributes)
	return float64((size + bytes - 1) / bytes)
}

// CountedPool counts the calls of a pool and the messages that went through it.
type CountedPool struct {
	pool.Pool
	Offers, Receives, Dones atomic.Int64 // calls
	Received                atomic.Int64 // messages
}

// Offer implements pool.Pool.
func (c *CountedPool) Offer(ctx context.Context, t pool.Ticket) error {
	c.Offers.Add(1)
	return c.Pool.Offer(ctx, t)
}

// Receive implements pool.Pool.
func (c *CountedPool) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	c.Receives.Add(1)
	out, err := c.Pool.Receive(ctx, class, hold, wait)
	c.Received.Add(int64(len(out)))
	return out, err
}

// Done implements pool.Pool.
func (c *CountedPool) Done(ctx context.Context, class string, receipts ...string) error {
	c.Dones.Add(1)
	return c.Pool.Done(ctx, class, receipts...)
}

// Calls returns how often the pool was called.
func (c *CountedPool) Calls() int64 { return c.Offers.Load() + c.Receives.Load() + c.Dones.Load() }
