package pooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/pool"
)

// errClosed is what calls after Close return.
var errClosed = errors.New("pool is closed")

// Memory is the contract of package pool in its plainest form: it never repeats, loses or
// resurrects a message, so that a test decides with Weaken which faults it sees. Safe for
// concurrent use. It starts nothing.
type Memory struct {
	clock  clock.WithTicker
	queues *queues
	closed chan struct{}
	once   *sync.Once
}

// queues is what several handles share.
type queues struct {
	mu      sync.Mutex
	byClass map[string][]*message
	serial  int           // of receipts
	changed chan struct{} // closed and replaced when a message was added
}

type message struct {
	body    string
	visible time.Time
	receipt string
}

// NewMemory returns empty queues.
func NewMemory(clk clock.WithTicker) *Memory {
	return (&Memory{clock: clk, queues: &queues{
		byClass: make(map[string][]*message), changed: make(chan struct{}),
	}}).Again()
}

// Again returns another handle on the same queues, as another process has it.
func (m *Memory) Again() *Memory {
	return &Memory{clock: m.clock, queues: m.queues, closed: make(chan struct{}), once: new(sync.Once)}
}

// Len returns the number of messages of class, held ones included.
func (m *Memory) Len(class string) int {
	m.queues.mu.Lock()
	defer m.queues.mu.Unlock()
	return len(m.queues.byClass[class])
}

// Inject adds a message with any body.
func (m *Memory) Inject(ctx context.Context, class, body string) error {
	if err := m.alive(ctx); err != nil {
		return err
	}
	q := m.queues
	q.mu.Lock()
	defer q.mu.Unlock()
	q.byClass[class] = append(q.byClass[class], &message{body: body, visible: m.clock.Now()})
	close(q.changed)
	q.changed = make(chan struct{})
	return nil
}

// Offer implements pool.Pool.
func (m *Memory) Offer(ctx context.Context, t pool.Ticket) error {
	body, err := pool.Encode(t)
	if err != nil {
		return err
	}
	return m.Inject(ctx, t.ResourceClass, body)
}

// Receive implements pool.Pool.
func (m *Memory) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	end := m.clock.Now().Add(wait)
	for {
		if err := m.alive(ctx); err != nil {
			return nil, err
		}
		now := m.clock.Now()
		out, next, changed := m.queues.receive(class, now, now.Add(hold))
		if len(out) > 0 || !now.Before(end) {
			return out, nil
		}
		if next.IsZero() || end.Before(next) {
			next = end
		}
		timer := m.clock.NewTimer(next.Sub(now))
		select {
		case <-timer.C():
		case <-changed:
		case <-m.closed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// receive returns visible messages, or when to look again: at next, or once changed is closed.
func (q *queues) receive(class string, now, until time.Time) (out []pool.Message, next time.Time, changed chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, msg := range q.byClass[class] {
		if len(out) < pool.MaxBatch && !msg.visible.After(now) {
			q.serial++
			msg.visible, msg.receipt = until, fmt.Sprintf("receipt-%d", q.serial)
			out = append(out, pool.Message{Body: msg.body, Receipt: msg.receipt})
		}
		if msg.visible.After(now) && (next.IsZero() || msg.visible.Before(next)) {
			next = msg.visible
		}
	}
	return out, next, q.changed
}

// Done implements pool.Pool.
func (m *Memory) Done(ctx context.Context, class string, receipts ...string) error {
	if err := m.alive(ctx); err != nil {
		return err
	}
	q := m.queues
	q.mu.Lock()
	defer q.mu.Unlock()
	q.byClass[class] = slices.DeleteFunc(q.byClass[class], func(msg *message) bool { return slices.Contains(receipts, msg.receipt) })
	return nil
}

// Close implements pool.Pool. Other handles stay usable.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *Memory) alive(ctx context.Context) error {
	select {
	case <-m.closed:
		return errClosed
	default:
		return ctx.Err()
	}
}
