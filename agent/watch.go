package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// readLimit bounds one read of the record.
const readLimit = 10 * time.Second

// spread is the part of a poll interval by which it may be longer or shorter, so that agents started
// together do not read together.
const spread = 0.2

// pace says what the agent's next step waits for.
type pace int

const (
	unhurried    pace = iota // nothing in the record
	assignment               // the controller, which has nothing for this machine as far as is known
	registration             // one that the controller is asking GitHub for
)

// While a registration is being made the record is read soonTimes as often, since GitHub's answer takes some 150 ms
// (docs/goals.md); after soonFor it is GitHub that is late.
const (
	soonTimes = 5
	soonFor   = 2 * time.Second
)

// errMoved ends a start of a listener whose assignment is over.
var errMoved = errors.New("agent: assignment changed")

// watch follows the machine's own record.
type watch struct {
	o       *Options
	log     *slog.Logger
	disk    *disk
	expiry  *expiry
	deadman *deadman
	changed chan struct{} // wakes the worker: the record is a new one

	now chan struct{} // wakes it

	taking sync.Mutex // held from the comparison of a record until the disk has it, because hooks read records too

	mu       sync.Mutex
	record   *store.Instance // newest seen by this process
	pace     pace
	since    time.Time // when it became that
	abort    context.CancelCauseFunc
	abortFor int64 // the assignment that abort ends with
}

// run reads the record until ctx ends, and passes on what is new in it: the threshold to the
// dead-man, an end to the halt, everything else to the worker. It is not the worker, because that
// one may be busy for minutes.
func (w *watch) run(ctx context.Context) {
	failed := false
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failed:
			w.log.Warn("this instance's record could not be read", logkey.Error, err)
		case err == nil && failed:
			w.log.Info("this instance's record is read again")
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-w.now:
		case <-w.o.Clock.After(w.wait()):
		}
	}
}

// wait is the time until the next read.
func (w *watch) wait() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := w.o.Poll
	switch {
	case w.pace == registration && w.o.Clock.Since(w.since) < soonFor:
		wait = w.o.IdlePoll / soonTimes
	case w.pace != unhurried:
		wait = w.o.IdlePoll
	}
	return time.Duration(float64(wait) * (1 - spread + 2*spread*w.o.Jitter()))
}

// look reads the record once. A read may be stale: a version below the highest seen is ignored, and
// what ends the machine is confirmed by a consistent read. So the first must be one: an agent that lost its memory
// would take the threshold of an earlier assignment for its own.
func (w *watch) look(ctx context.Context) error {
	consistency := store.Eventual
	if w.disk.get().Version == 0 {
		consistency = store.Consistent
	}
	in, err := w.read(ctx, consistency)
	gone := errors.Is(err, store.ErrNotFound) && w.disk.get().Version > 0
	if gone || (err == nil && in.State == statemachine.Terminated) {
		in, err = w.read(ctx, store.Consistent)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		if w.disk.get().Version > 0 {
			w.deadman.order(haltGone)
		}
		return nil // otherwise not there yet: the boot deadline holds
	case err != nil:
		return err
	case in.State == statemachine.Terminated:
		w.deadman.order(haltTerminated)
		return nil
	}
	w.take(in)
	return nil
}

func (w *watch) read(ctx context.Context, c store.Consistency) (store.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	return w.o.Store.Instance(ctx, c, w.o.Principal)
}

// take makes in the newest record unless a newer one was seen, and wakes the worker if it is new.
func (w *watch) take(in store.Instance) {
	now := w.o.Clock.Now()
	w.taking.Lock()
	defer w.taking.Unlock()
	seen := w.disk.get().Version
	if in.Version < seen {
		return
	}
	w.mu.Lock()
	known := w.record != nil && w.record.Version == in.Version
	w.record = &in
	if w.abort != nil && in.Assignment != w.abortFor {
		w.abort(errMoved)
	}
	w.mu.Unlock()
	if known {
		return
	}
	if in.Version > seen {
		w.expiry.learn(in.Threshold.Time, now, now)
		w.disk.save(func(s *State) {
			s.Version, s.Threshold, s.ReadAt = in.Version, in.Threshold, store.At(now)
		})
	}
	poke(w.changed)
}

// newest returns the newest record, or false while there is none.
func (w *watch) newest() (store.Instance, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.record == nil {
		return store.Instance{}, false
	}
	return *w.record, true
}

// hurry chooses the interval between two reads: short while the next step is the controller's.
func (w *watch) hurry(p pace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p == w.pace {
		return
	}
	if p > w.pace {
		poke(w.now)
	}
	w.pace, w.since = p, w.o.Clock.Now()
}

// hold returns a context that ends with an assignment, until it is released.
func (w *watch) hold(ctx context.Context, assignment int64) (held context.Context, release func()) {
	ctx, abort := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abort, w.abortFor = abort, assignment
	if w.record.Assignment != assignment {
		abort(errMoved)
	}
	return ctx, func() {
		w.mu.Lock()
		w.abort = nil
		w.mu.Unlock()
		abort(nil)
	}
}
