package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
)

// deadman ends the machine when its time is over. It runs whatever else hangs.
type deadman struct {
	clock    clock.WithTicker
	log      *slog.Logger
	grace    time.Duration
	machine  Machine
	expiry   *expiry
	listener func() Listener // the present one, or nil
	keeper   *keeper

	armed  chan struct{} // closed once the timer runs
	orders chan string   // reasons to halt
	off    chan struct{} // closed once Machine.Halt was called
	halted atomic.Bool
}

// run halts the machine when its time is over or when ordered to. It depends on nothing but the
// clock: no file, no store, no lock that is held over a call.
func (d *deadman) run(ctx context.Context) error {
	for armed := false; ; armed = true {
		left, reason := d.expiry.left(d.clock.Now())
		if left <= 0 {
			return d.halt(ctx, reason)
		}
		due := d.clock.After(min(left, d.grace/rechecks))
		if !armed {
			close(d.armed)
		}
		select {
		case <-ctx.Done():
			return nil
		case reason := <-d.orders:
			return d.halt(ctx, reason)
		case <-d.expiry.changed:
		case <-due:
		}
	}
}

// order asks the dead-man to halt the machine.
func (d *deadman) order(reason string) {
	d.halted.Store(true)
	select {
	case d.orders <- reason:
	default: // one order is enough
	}
}

// halt ends the listener, has the machine's output kept, which takes keepLimit at most, and powers the machine off,
// until that succeeds. From here on nothing is registered. Only the end of the process, by ctx, stops it, and not before one try.
func (d *deadman) halt(ctx context.Context, reason string) error {
	d.halted.Store(true)
	d.log.Warn("halting this machine", logkey.Reason, reason)
	if l := d.listener(); l != nil {
		l.Kill()
	}
	d.keeper.now(reason)
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(haltFirst), backoff.WithMaxInterval(haltMax), backoff.WithMaxElapsedTime(0))
	try := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), haltTry)
		defer cancel()
		return d.machine.Halt(ctx, reason)
	}
	again := func(err error, wait time.Duration) {
		d.log.Error("halting this machine failed; it is tried again", logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	err := backoff.RetryNotify(try, backoff.WithContext(pause, ctx), again)
	close(d.off)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrHalted, reason, err)
	}
	return fmt.Errorf("%w: %s", ErrHalted, reason)
}
