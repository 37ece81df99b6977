package pooltest

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory opens m seen through wrap, which all handles share.
func memory(m *Memory, wrap func(pool.Pool) pool.Pool) Open {
	shared := wrap(m)
	return func(context.Context) (pool.Pool, error) { return handle{shared, m.Again()}, nil }
}

// handle is closed alone and works on shared.
type handle struct {
	shared pool.Pool
	own    *Memory
}

func (h handle) Offer(ctx context.Context, t pool.Ticket) error {
	if err := h.own.alive(ctx); err != nil {
		return err
	}
	return h.shared.Offer(ctx, t)
}

func (h handle) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	if err := h.own.alive(ctx); err != nil {
		return nil, err
	}
	return h.shared.Receive(ctx, class, hold, wait)
}

func (h handle) Done(ctx context.Context, class string, receipts ...string) error {
	if err := h.own.alive(ctx); err != nil {
		return err
	}
	return h.shared.Done(ctx, class, receipts...)
}

func (h handle) Close() error { return h.own.Close() }

// inBubble runs one check in virtual time, for as long as limit.
func inBubble(t *testing.T, c check, limit time.Duration, wrap func(pool.Pool) pool.Pool) (err error) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		err = c.run(ctx, memory(NewMemory(clock.RealClock{}), wrap))
	})
	return err
}

func TestMemory_KeepsTheContract(t *testing.T) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := inBubble(t, c, patience, func(p pool.Pool) pool.Pool { return p }); err != nil {
				t.Error(err)
			}
		})
	}
}

// The suite must accept the worst back end that the contract allows, or it would refuse SQS.
func TestWeaken_KeepsTheContract(t *testing.T) {
	for seed := range uint64(20) {
		for _, c := range checks {
			err := inBubble(t, c, patience, func(p pool.Pool) pool.Pool { return Weaken(p, seed) })
			if err != nil {
				t.Errorf("%s with seed %d: %v", c.name, seed, err)
			}
		}
	}
}
