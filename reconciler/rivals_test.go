package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// link is what one controller sees of the store. Its fault, if any, happens to every call.
type link struct {
	store.Table
	mu    sync.Mutex
	fault func(ctx context.Context, write func() error) error // write is nil for reads
}

func (l *link) set(fault func(context.Context, func() error) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

func (l *link) call(ctx context.Context, write func() error) error {
	l.mu.Lock()
	fault := l.fault
	l.mu.Unlock()
	switch {
	case fault != nil:
		return fault(ctx, write)
	case write != nil:
		return write()
	}
	return nil
}

func (l *link) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := l.call(ctx, nil); err != nil {
		return nil, err
	}
	return l.Table.Get(ctx, c, keys...)
}

func (l *link) Put(ctx context.Context, item store.Item, expect int64) error {
	return l.call(ctx, func() error { return l.Table.Put(ctx, item, expect) })
}

// The faults of a link.
func hangs(ctx context.Context, _ func() error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func fails(context.Context, func() error) error { return store.ErrUnavailable }

func losesReply(_ context.Context, write func() error) error {
	if write == nil {
		return nil
	}
	return errors.Join(store.ErrUnavailable, write())
}

// rival is one controller that wants to lead.
type rival struct {
	*elector
	link   *link
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of run; once done is closed

	mu    sync.Mutex
	terms []int64     // led so far
	began []time.Time // when each began
	leads bool
}

// none is the offset of a clock that agrees with the store's.
func none() time.Duration { return 0 }

// unwell says nothing of itself.
func unwell() store.Health { return store.Health{} }

// newRival starts a controller with the lease numbers of the defaults.
func newRival(t *testing.T, name string, table store.Table, clk clock.WithTicker) *rival {
	t.Helper()
	return newTellingRival(t, name, table, clk, slog.New(slog.DiscardHandler))
}

func newTellingRival(t *testing.T, name string, table store.Table, clk clock.WithTicker, log *slog.Logger) *rival {
	t.Helper()
	cfg := Defaults()
	l := &link{Table: table}
	c := &rival{link: l, done: make(chan struct{}), elector: &elector{
		store: store.New(l), clock: clk, offset: none, log: log, holder: name, ttl: cfg.LeaseTTL, request: cfg.LeaseRequest,
		health: unwell,
	}}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		c.err = c.run(ctx, c.lead)
	}()
	return c
}

func (c *rival) lead(ctx context.Context, number int64) error {
	items, err := c.link.Table.Get(context.WithoutCancel(ctx), store.Consistent, store.LeaseKey)
	if err != nil || len(items) != 1 {
		return fmt.Errorf("read lease: %d items, %w", len(items), err)
	}
	var term int64
	if _, err := fmt.Sscanf(string(items[0].Attributes), `{"holder":"`+c.holder+`","term":%d`, &term); err != nil {
		return fmt.Errorf("lease %s is not %s's: %w", items[0].Attributes, c.holder, err)
	}
	if term != number {
		return fmt.Errorf("lease %s was handed over as term %d", items[0].Attributes, number)
	}
	c.mu.Lock()
	c.terms, c.began, c.leads = append(c.terms, term), append(c.began, time.Now()), true
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	c.leads = false
	c.mu.Unlock()
	return nil
}

func (c *rival) led() ([]int64, []time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.terms, c.began, c.leads
}

func (c *rival) stop(t *testing.T) {
	t.Helper()
	c.cancel()
	<-c.done
	if c.err != nil {
		t.Errorf("%s: run() error = %v", c.holder, c.err)
	}
}

// election runs a test with two candidates on one table, the first of which leads already.
func election(t *testing.T, test func(t *testing.T, table *storetest.Memory, first, second *rival)) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) {
		clk := clock.RealClock{}
		table := storetest.NewMemory(clk)
		start := time.Now()
		first := newRival(t, "first", table, clk)
		synctest.Wait()
		if terms, since, leads := first.led(); !leads || terms[0] != 1 || !since[0].Equal(start) || !first.trust() {
			t.Fatalf("a fresh lease is not taken at once: %v since %v, trusted %v", terms, since, first.trust())
		}
		second := newRival(t, "second", table, clk)
		test(t, table, first, second)
		first.stop(t)
		second.stop(t)
	})
}
