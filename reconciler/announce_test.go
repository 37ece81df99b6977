package reconciler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// mutePool takes no message and never says so.
type mutePool struct{ pool.Pool }

func (mutePool) Offer(ctx context.Context, _ pool.Ticket) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// brokenPool refuses every message.
type brokenPool struct{ pool.Pool }

func (brokenPool) Offer(context.Context, pool.Ticket) error { return errors.New("access denied") }

// H53 S44 H16: a queue that does not answer, or takes no message, keeps no instance from being given back, found and claimed.
func TestAnnounce_AMuteQueueKeepsNobodyWaiting_H53(t *testing.T) {
	const n = 40 // more than instances are looked at at once
	for name, queue := range map[string]func(pool.Pool) pool.Pool{
		"Mute":   func(p pool.Pool) pool.Pool { return mutePool{p} },
		"Broken": func(p pool.Pool) pool.Pool { return brokenPool{p} },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Config.MaxInstances = n
				w.controllerWith("c1", reconciler.Options{Pool: queue(w.Pool)})
				for _, id := range []string{"100", "200"} {
					w.submit(spec(id, n))
					w.awaitPhase(id, 1, statemachine.Ready, time.Minute)
					w.release(id, 1, store.Drain)
					w.await(time.Minute, "pooled", func() bool { return w.pooled() == n })
				}
				if got := w.Fleet.Launched(); got != n {
					t.Errorf("launched %d, want %d: the second run needs none", got, n)
				}
			})
		})
	}
}
