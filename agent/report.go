package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/store"
)

// writeLimit bounds one write of a signal, retries included, before it is begun anew.
const writeLimit = 10 * time.Second

// A write whose outcome is unknown may still take effect, over a newer one: the report is written again
// every repeat, until late has passed since the last of them. late is longer than a request lives in any
// client or back end we use, repeat far below the gates of the controller that wait for a report.
const (
	late   = 15 * time.Second
	repeat = 2 * time.Second
)

// outbox delivers the newest report. A report that cannot be written is tried again until it is
// delivered or replaced (H48); no other part of the agent waits for it.
type outbox struct {
	store     *store.Store // with silent and principal, set before run
	silent    *store.Store // writes the same, and notifies nobody
	principal store.Principal
	clock     clock.WithTicker
	log       *slog.Logger
	kick      chan struct{}
	mask      machinelog.Patterns

	mu            sync.Mutex
	value         store.SignalValue
	unconfirmedAt time.Time          // when the outcome of a write was last unknown; zero: never
	waiting       bool               // value is not delivered yet
	silently      bool               // no client waits for it
	cancel        context.CancelFunc // ends the write under way
}

// post sets the report to deliver. If no client waits for it, silently saves a message and a read of the controller. The detail may contain
// program output that many people read.
func (o *outbox) post(v store.SignalValue, silently bool) {
	v.Detail = o.mask.Mask(v.Detail)
	o.mu.Lock()
	defer o.mu.Unlock()
	if v == o.value {
		return
	}
	o.value, o.waiting, o.silently = v, true, silently
	if o.cancel != nil {
		o.cancel()
	}
	poke(o.kick)
}

// markUnconfirmed notes that the outcome of a write is not known.
func (o *outbox) markUnconfirmed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unconfirmedAt = o.clock.Now()
}

// confirmingTable is the table below the outbox: it sees each try of a write, of which the store reports only the last.
type confirmingTable struct {
	store.Table
	o *outbox
}

func (d confirmingTable) Put(ctx context.Context, item store.Item, expect int64) error {
	err := d.Table.Put(ctx, item, expect)
	if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrRefused) {
		d.o.markUnconfirmed()
	}
	return err
}

// silentTable notifies nobody of what is written.
type silentTable struct{ store.Table }

func (silentTable) Notify(context.Context, ...store.Key) error { return nil }

// run delivers until ctx ends.
func (o *outbox) run(ctx context.Context) {
	next := o.clock.NewTimer(repeat)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.kick:
		case <-next.C():
			if !o.again() {
				continue // the next unknown outcome sets the timer anew
			}
		}
		for o.pending() && ctx.Err() == nil {
			if o.deliver(ctx) {
				o.rest(ctx)
			}
		}
		next.Reset(repeat)
	}
}

// again makes the report one to deliver if an earlier write may still replace it, and reports whether it is.
func (o *outbox) again() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unconfirmedAt.IsZero() || o.clock.Since(o.unconfirmedAt) > late+repeat { // once more when no write can be under way
		return false
	}
	o.waiting = o.value.Signal != ""
	return o.waiting
}

func (o *outbox) pending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

// refusedPause is between two tries of a report that was refused: credentials and permissions are
// repaired by people, and a change takes IAM seconds to spread.
const refusedPause = 5 * time.Second

// rest waits before the next try, unless there is something else to report.
func (o *outbox) rest(ctx context.Context) {
	select {
	case <-o.clock.After(refusedPause):
	case <-o.kick:
	case <-ctx.Done():
	}
}

// deliver tries to write the report. It reports whether people must repair something before the next try.
func (o *outbox) deliver(ctx context.Context) (refused bool) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	o.mu.Lock()
	v, to := o.value, o.store
	if o.silently {
		to = o.silent
	}
	o.cancel = cancel
	o.mu.Unlock()
	err := to.Signal(ctx, o.principal, v, o.clock.Now())
	refused = errors.Is(err, store.ErrRefused)
	decided := !refused && (err == nil || ctx.Err() == nil) // what ctx did not end was decided, for good

	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel = nil
	if decided && v == o.value {
		o.waiting = false
	}
	log := o.log.With(logkey.Signal, v.Signal, logkey.Assignment, v.Assignment, logkey.Cause, v.Cause)
	switch {
	case err == nil:
		log.Info("a signal was reported")
	case decided:
		log.Error("a report breaks its rules and was dropped", logkey.Error, err)
	case v == o.value:
		log.Warn("a report could not be written; it is tried again", logkey.Error, err)
	}
	return refused
}
