package pool_test

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// counting counts the calls of a Pool, and fails those that its functions say.
type counting struct {
	pool.Pool
	receiveErr func(class string) error // before the call, if not nil
	doneErr    func(class string) error

	mu       sync.Mutex
	offers   int
	receives map[string]int // by class
	dones    map[string]int
}

func (c *counting) Offer(ctx context.Context, t pool.Ticket) error {
	c.mu.Lock()
	c.offers++
	c.mu.Unlock()
	return c.Pool.Offer(ctx, t)
}

func (c *counting) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	count(c, &c.receives, class)
	if c.receiveErr != nil {
		if err := c.receiveErr(class); err != nil {
			return nil, err
		}
	}
	return c.Pool.Receive(ctx, class, hold, wait)
}

func (c *counting) Done(ctx context.Context, class string, receipts ...string) error {
	count(c, &c.dones, class)
	if c.doneErr != nil {
		if err := c.doneErr(class); err != nil {
			return err
		}
	}
	return c.Pool.Done(ctx, class, receipts...)
}

func count(c *counting, of *map[string]int, class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *of == nil {
		*of = make(map[string]int)
	}
	(*of)[class]++
}

// received returns the number of receives per class.
func (c *counting) received() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.receives)
}

// total returns the number of all calls.
func (c *counting) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.offers
	for _, of := range []map[string]int{c.receives, c.dones} {
		for _, k := range of {
			n += k
		}
	}
	return n
}
