package reconciler_test

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
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
	takesLong(t)
	const n = 40 // more than instances are looked at at once
	for name, queue := range map[string]func(pool.Pool) pool.Pool{
		"Mute":   func(p pool.Pool) pool.Pool { return mutePool{p} },
		"Broken": func(p pool.Pool) pool.Pool { return brokenPool{p} },
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.Configure(func(c *reconciler.Config) { c.MaxInstances = n })
			w.controllerWith("c1", reconciler.Options{Pool: queue(w.Pool)})
			for _, id := range []string{"100", "200"} {
				w.serve(spec(id, n), time.Minute)
				w.release(id, 1, store.ReleaseDrain)
				w.await(time.Minute, "pooled", func() bool { return w.pooled() == n })
			}
			w.launched(n) // the second run needs none
		}))
	}
}

// recordingPool is a pool that remembers what was offered.
type recordingPool struct {
	pool.Pool
	mu     sync.Mutex
	offers []pool.Ticket
}

func (o *recordingPool) Offer(ctx context.Context, t pool.Ticket) error {
	o.mu.Lock()
	o.offers = append(o.offers, t)
	o.mu.Unlock()
	return o.Pool.Offer(ctx, t)
}

// H14: the entry of a machine that comes back from a long run, or from a claim, carries the threshold of its idle
// record, which is the idle limit from its pooling on, and nothing of the run's.
func TestPooled_EntryCarriesTheIdleThreshold_H14(t *testing.T) {
	for name, own := range map[string]time.Duration{"OfAll": 0, "OfTheClass": 90 * time.Second} {
		t.Run(name, story(func(t *testing.T, w *world) { entryCarriesThreshold(t, w, own) }))
	}
}

func entryCarriesThreshold(t *testing.T, w *world, own time.Duration) {
	w.class("small", func(c *reconciler.Class) { c.Idle = own })
	limit := cmp.Or(own, w.Config().Limits.Idle)
	p := &recordingPool{Pool: w.Pool}
	defer w.controllerWith("c1", reconciler.Options{Pool: p})()
	check := func(what string) {
		t.Helper()
		time.Sleep(time.Second)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.offers) != 1 {
			t.Fatalf("%s: %d entries, want one", what, len(p.offers))
		}
		offer := p.offers[0]
		in := w.instance(store.InstanceID(offer.InstanceID))
		if !offer.Threshold.Equal(in.Threshold.Time) || !offer.Threshold.Equal(in.PooledAt.Add(limit)) {
			t.Errorf("%s: entry up to %s, record up to %s, pooled at %s, want %s from there",
				what, offer.Threshold, in.Threshold.Time, in.PooledAt.Time, limit)
		}
		p.offers = nil
	}
	w.warm("100", 1, lasting(3*time.Hour))
	check("after a run")
	w.Fleet.SetCapacity(fleet.Slot{}, 1)
	w.submit(spec("200", 2, within(time.Minute)))
	w.awaitPhase("200", 1, statemachine.Failed, 2*time.Minute)
	w.await(10*time.Second, "pooled", func() bool { return w.pooled() == 1 })
	check("after a claim")
}
