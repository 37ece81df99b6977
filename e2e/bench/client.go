package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Spec is a request for count instances of any type.
func Spec(id string, count int) store.RunRequest {
	return store.RunRequest{
		ID: store.RequestID(id), Attempt: 1, Count: count, UsageClasses: []string{store.Spot},
		AllowedInstanceTypes: []string{"*"}, ResourceClass: Class, CreatedAt: store.At(time.Now()),
		MaxRuntime: store.SecondsOf(30 * time.Minute), Timeout: store.SecondsOf(10 * time.Minute),
	}
}

// Round is what one run waited for.
type Round struct {
	Ready  time.Duration // from the request to the status Ready
	Return time.Duration // from the release until its last instance was pooled
}

// Start asks for count instances and returns how long it took until the status said Ready.
func (w *World) Start(ctx context.Context, id string, count int) (time.Duration, error) {
	start := time.Now()
	if _, err := w.Client.Submit(ctx, Spec(id, count)); err != nil {
		return 0, err
	}
	ready, err := w.Journal.Phase(ctx, store.RequestID(id), statemachine.Ready)
	if err != nil {
		return 0, fmt.Errorf("request %s: ready: %w", id, err)
	}
	return ready.Sub(start), nil
}

// Return gives the instances of a run back and returns how long it took until all were pooled.
func (w *World) Return(ctx context.Context, id string, count int) (time.Duration, error) {
	start := time.Now()
	if _, err := w.Client.Release(ctx, store.RequestID(id), 1, store.ReleaseDrain); err != nil {
		return 0, err
	}
	pooled, err := w.Journal.Back(ctx, store.RequestID(id), count)
	if err != nil {
		return 0, fmt.Errorf("request %s: pooled: %w", id, err)
	}
	return pooled.Sub(start), nil
}

// Warm fills the pool with n instances: one run launches them and gives them back.
func (w *World) Warm(ctx context.Context, n int) error {
	for _, step := range []func(context.Context, string, int) (time.Duration, error){w.Start, w.Return} {
		if _, err := step(ctx, "warm", n); err != nil {
			return err
		}
	}
	_, err := w.Journal.Phase(ctx, "warm", statemachine.PhaseReleased)
	return err
}
