package reconciler

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// trustSpan is a time of trust that a test moves.
type trustSpan struct{ until atomic.Int64 } // Unix nanoseconds

func (w *trustSpan) set(t time.Time)       { w.until.Store(t.UnixNano()) }
func (w *trustSpan) get() time.Time        { return time.Unix(0, w.until.Load()) }
func (w *trustSpan) lasts(d time.Duration) { w.set(time.Now().Add(d)) }

// abroad is everything outside. Each call with an effect lasts as long as its context, or as the test says.
type abroad struct {
	store.Table
	fleet.Fleet
	GitHub
	pool.Pool

	lasts time.Duration
	begun int
	ended error // of the last call's context
}

func (a *abroad) effect(ctx context.Context) error {
	a.begun++
	select {
	case <-time.After(a.lasts):
	case <-ctx.Done():
	}
	a.ended = context.Cause(ctx)
	return a.ended
}

func (a *abroad) Close() error { return nil }

func (a *abroad) Watch(ctx context.Context, _ func(store.Key)) error { _ = a.effect(ctx); return nil }
func (a *abroad) Put(ctx context.Context, _ store.Item, _ int64) error {
	return a.effect(ctx)
}

func (a *abroad) Launch(ctx context.Context, _ fleet.Plan) (fleet.Outcome, error) {
	return fleet.Outcome{}, a.effect(ctx)
}
func (a *abroad) Terminate(ctx context.Context, _ ...string) error { return a.effect(ctx) }
func (a *abroad) JITConfig(ctx context.Context, _, _ string) (githubapi.JIT, error) {
	return githubapi.JIT{}, a.effect(ctx)
}

func (a *abroad) RegistrationToken(ctx context.Context) (githubapi.Token, error) {
	return githubapi.Token{}, a.effect(ctx)
}
func (a *abroad) AddLabel(ctx context.Context, _ int64, _ string) error { return a.effect(ctx) }
func (a *abroad) DeleteRunner(ctx context.Context, _ int64) error       { return a.effect(ctx) }
func (a *abroad) Offer(ctx context.Context, _ pool.Ticket) error        { return a.effect(ctx) }
func (a *abroad) Done(ctx context.Context, _ string, _ ...string) error { return a.effect(ctx) }
func (a *abroad) Receive(ctx context.Context, _ string, _, _ time.Duration) ([]pool.Message, error) {
	return nil, a.effect(ctx)
}

// effects are the calls that change something outside.
func effects(a *abroad, f fence) map[string]func(context.Context) error {
	table, machines, hub, messages := trustedTable{a, f}, trustedFleet{a, f}, newGuardedGitHub(a, f, func(context.Context, error) {}), trustedPool{a, f}
	return map[string]func(context.Context) error{
		"Put":       func(ctx context.Context) error { return table.Put(ctx, store.Item{}, 0) },
		"Launch":    func(ctx context.Context) error { _, err := machines.Launch(ctx, fleet.Plan{}); return err },
		"Terminate": func(ctx context.Context) error { return machines.Terminate(ctx, "i-1") },
		"JITConfig": func(ctx context.Context) error { _, err := hub.JITConfig(ctx, "n", "l"); return err },
		"Token":     func(ctx context.Context) error { _, err := hub.RegistrationToken(ctx); return err },
		"Label":     func(ctx context.Context) error { return hub.AddLabel(ctx, 1, "l") },
		"Delete":    func(ctx context.Context) error { return hub.DeleteRunner(ctx, 1) },
		"Offer":     func(ctx context.Context) error { return messages.Offer(ctx, pool.Ticket{}) },
		"Done":      func(ctx context.Context) error { return messages.Done(ctx, "small", "r") },
	}
}

// Invariant 6: no effect is begun at the end of trust or later, and one that is under way then is cut off before the lease
// ends; a renewal in between lets it go on. Writes are not cut off: they have conditions.
func TestFence_EveryEffect(t *testing.T) {
	const span, margin = 1500 * time.Millisecond, 500 * time.Millisecond
	for name := range effects(&abroad{}, fence{}) {
		t.Run(name, bubbletest.Case(func(t *testing.T) {
			trust := new(trustSpan)
			trust.lasts(span)
			a := &abroad{}
			f := fence{clock: clock.RealClock{}, until: trust.get, margin: margin}
			call := effects(a, f)[name]
			time.Sleep(span - 1)
			if err := call(t.Context()); err != nil || a.begun != 1 {
				t.Errorf("one tick before the end of trust: %d calls, error = %v", a.begun, err)
			}
			time.Sleep(1)
			if err := call(t.Context()); !errors.Is(err, store.ErrNotLeader) || a.begun != 1 {
				t.Errorf("at the end of trust: %d calls, error = %v, want none, ErrNotLeader", a.begun, err)
			}
			if name == "Put" {
				return
			}
			trust.lasts(span)
			a.lasts = time.Hour
			start := time.Now()
			err := call(t.Context())
			if took := time.Since(start); !errors.Is(err, errOutlived) || errors.Is(err, store.ErrNotLeader) || took != span+margin {
				t.Errorf("a call that outlives trust: %v after %s, want cut off after %s, outcome unknown", err, took, span+margin)
			}
			trust.lasts(span)
			a.lasts = 3 * time.Second
			time.AfterFunc(span, func() { trust.lasts(span) })
			if err := call(t.Context()); err != nil {
				t.Errorf("a call during which the lease is renewed: error = %v", err)
			}
		}))
	}
}

// Notifications are taken only while there is trust: they are a successor's, who would wait for the next scan.
func TestFence_TakesNothing(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		trust := new(trustSpan)
		trust.lasts(time.Second)
		a := &abroad{lasts: time.Hour}
		f := fence{clock: clock.RealClock{}, until: trust.get, margin: 500 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- trustedTable{a, f}.Watch(ctx, nil) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if a.begun != 1 || !errors.Is(a.ended, errOutlived) {
			t.Errorf("%d watches, ended by %v, want one that ended with trust", a.begun, a.ended)
		}
		trust.lasts(time.Second)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if a.begun != 2 {
			t.Errorf("%d watches once there is trust again, want 2", a.begun)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch() error = %v at the end", err)
		}

		got, err := trustedPool{a, f}.Receive(t.Context(), "small", 0, time.Hour)
		if err != nil || got != nil || a.begun != 3 || !errors.Is(a.ended, errOutlived) {
			t.Errorf("Receive() = %v, %v, ended by %v, want nothing at the end of trust", got, err, a.ended)
		}
		short, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := (trustedPool{a, f}).Receive(short, "small", 0, time.Hour); err == nil || a.begun != 3 {
			t.Errorf("Receive() without trust asked the pool, error = %v", err)
		}
	})
}

// Who is cut off for writes alone learns from a read that another leads, and ends its term; it stands again once it
// can write.
func TestLeader_CutOffForWrites_LearnsOfItsSuccessor(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, first, second *rival) {
		time.Sleep(5 * time.Second)
		first.link.set(failsWrites)
		time.Sleep(10 * time.Second)
		if _, _, leads := first.led(); leads {
			t.Error("the first still leads, though it can read that the second does")
		}
		if terms, _, leads := second.led(); !leads || terms[0] != 2 {
			t.Errorf("the second leads %v, terms %v, want term 2", leads, terms)
		}
		first.link.set(nil)
		second.stop(t)
		time.Sleep(time.Second)
		if terms, _, leads := first.led(); !leads || terms[len(terms)-1] != 3 {
			t.Errorf("after the second left: the first leads %v, terms %v, want term 3", leads, terms)
		}
	})
}

// failsWrites is a fault of a link that reads pass.
func failsWrites(_ context.Context, write func() error) error {
	if write != nil {
		return store.ErrUnavailable
	}
	return nil
}
