package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Delay makes a store as slow as one behind a network: every call waits first. Times are distributed
// log-normally around these medians, with p99 = 2.1 × p50, from one seed.
type Delay struct {
	Write, Read, Notify time.Duration

	mu  sync.Mutex
	rng *rand.Rand
}

// tail is ln(p99/p50) in standard deviations of the normal distribution.
var tail = math.Log(2.1) / 2.326

// NewDynamoDB returns the delays that the goals suppose of DynamoDB and SQS: 7.5 ms for a write, 4 ms
// for a read, 15 ms for a message.
func NewDynamoDB(seed uint64) *Delay {
	return &Delay{
		Write: 7500 * time.Microsecond, Read: 4 * time.Millisecond, Notify: 15 * time.Millisecond,
		rng: rand.New(rand.NewPCG(seed, 0)),
	}
}

// Next draws the time of one call with the given median.
func (d *Delay) Next(median time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(float64(median) * math.Exp(tail*d.rng.NormFloat64()))
}

// slow returns table with its calls delayed; a nil Delay delays nothing. Scan and Watch keep their
// pace.
func (d *Delay) slow(table store.Table) store.Table {
	if d == nil {
		return table
	}
	return slowed{table, d}
}

type slowed struct {
	store.Table
	d *Delay
}

func (s slowed) wait(ctx context.Context, median time.Duration) error {
	t := time.NewTimer(s.d.Next(median))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (s slowed) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := s.wait(ctx, s.d.Write); err != nil {
		return err
	}
	return s.Table.Put(ctx, item, expect)
}

func (s slowed) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := s.wait(ctx, s.d.Read); err != nil {
		return nil, err
	}
	return s.Table.Get(ctx, c, keys...)
}

func (s slowed) Notify(ctx context.Context, keys ...store.Key) error {
	if err := s.wait(ctx, s.d.Notify); err != nil {
		return err
	}
	return s.Table.Notify(ctx, keys...)
}
