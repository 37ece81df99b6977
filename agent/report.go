package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// writeLimit bounds one write of a signal, retries included, before it is begun anew.
const writeLimit = 10 * time.Second

// settle is how long a write that was given up may still take effect: longer than a request lives
// in any client or back end we use. The signal that replaced it is written once more after it.
const settle = 15 * time.Second

// outbox delivers the newest report. A report that cannot be written is tried again until it is
// delivered or replaced (H48); no other part of the agent waits for it.
type outbox struct {
	store     *store.Store // with principal, set before run
	principal store.Principal
	clock     clock.WithTicker
	log       *slog.Logger
	kick      chan struct{}

	mu      sync.Mutex
	value   store.SignalValue
	waiting bool               // value is not delivered yet
	cancel  context.CancelFunc // ends the write under way
}

func newOutbox(c clock.WithTicker, log *slog.Logger) *outbox {
	return &outbox{clock: c, log: log, kick: make(chan struct{}, 1)}
}

// post makes v the report to deliver.
func (o *outbox) post(v store.SignalValue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if v == o.value {
		return
	}
	o.value, o.waiting = v, true
	if o.cancel != nil {
		o.cancel()
	}
	poke(o.kick)
}

// run delivers until ctx ends.
func (o *outbox) run(ctx context.Context) {
	settled := o.clock.NewTimer(settle) // once after a start: the last process may have given one up
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.kick:
		case <-settled.C():
			o.again()
		}
		for o.pending() && ctx.Err() == nil {
			switch o.deliver(ctx) {
			case decided:
			case givenUp:
				settled.Reset(settle)
			case refused:
				o.rest(ctx)
			}
		}
	}
}

func (o *outbox) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = o.value.Signal != ""
}

func (o *outbox) pending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

// refusedPause is between two tries of a report that was refused: credentials and permissions are
// mended by people, and a change takes IAM seconds to spread.
const refusedPause = 5 * time.Second

// rest waits before the next try, unless there is something else to report.
func (o *outbox) rest(ctx context.Context) {
	timer := o.clock.NewTimer(refusedPause)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-o.kick:
	case <-ctx.Done():
	}
}

// delivery is how one try ended.
type delivery int

const (
	decided delivery = iota // written, or of no use to write
	givenUp                 // its outcome is unknown
	refused                 // somebody must mend something first
)

// deliver tries to write the report.
func (o *outbox) deliver(ctx context.Context) delivery {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	o.mu.Lock()
	v := o.value
	o.cancel = cancel
	o.mu.Unlock()
	err := o.store.Signal(ctx, o.principal, v, o.clock.Now())
	end := decided // what ctx did not end was decided, for good
	switch {
	case errors.Is(err, store.ErrRefused):
		end = refused
	case err != nil && ctx.Err() != nil:
		end = givenUp
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel = nil
	if end == decided && v == o.value {
		o.waiting = false
	}
	log := o.log.With(logkey.Signal, v.Signal, logkey.Assignment, v.Assignment, logkey.Cause, v.Cause)
	switch {
	case err == nil:
		log.Info("reported")
	case end == decided:
		log.Error("report dropped", logkey.Error, err)
	case v == o.value:
		log.Warn("report again", logkey.Error, err)
	}
	return end
}
