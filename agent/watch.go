package agent

import (
	"context"
	"errors"
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

// errMoved ends a start of a listener whose assignment is over.
var errMoved = errors.New("agent: assignment changed")

// watch reads the record until ctx ends, and passes on what is new in it: the threshold to the
// dead-man, an end to the halt, everything else to the worker. It is not the worker, because that
// one may be busy for minutes.
func (a *Agent) watch(ctx context.Context) {
	failed := false
	for {
		err := a.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failed:
			a.log.Warn("record not read", logkey.Error, err)
		case err == nil && failed:
			a.log.Info("record read again")
		}
		failed = err != nil
		t := a.o.Clock.NewTimer(a.pollWait())
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-a.readNow:
		case <-t.C():
		}
		t.Stop()
	}
}

// pollWait is the time until the next read.
func (a *Agent) pollWait() time.Duration {
	wait := a.o.Poll
	if a.fast.Load() {
		wait = a.o.IdlePoll
	}
	return time.Duration(float64(wait) * (1 - spread + 2*spread*a.o.Jitter()))
}

// look reads the record once. A read may be stale: a version below the highest seen is ignored, and
// what ends the machine is confirmed by a consistent read. So the first must be one: an agent that lost its memory
// would take the threshold of an earlier assignment for its own.
func (a *Agent) look(ctx context.Context) error {
	consistency := store.Eventual
	if a.disk.get().Version == 0 {
		consistency = store.Consistent
	}
	in, err := a.read(ctx, consistency)
	gone := errors.Is(err, store.ErrNotFound) && a.disk.get().Version > 0
	if gone || (err == nil && in.State == statemachine.Terminated) {
		in, err = a.read(ctx, store.Consistent)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		if a.disk.get().Version > 0 {
			a.deadman.order(haltGone)
		}
		return nil // otherwise not there yet: the boot deadline holds
	case err != nil:
		return err
	case in.State == statemachine.Terminated:
		a.deadman.order(haltTerminated)
		return nil
	}
	a.take(in)
	return nil
}

func (a *Agent) read(ctx context.Context, c store.Consistency) (store.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	return a.o.Store.Instance(ctx, c, a.o.Principal)
}

// take makes in the newest record unless a newer one was seen, and wakes the worker if it is new.
func (a *Agent) take(in store.Instance) {
	now := a.o.Clock.Now()
	seen := a.disk.get().Version
	if in.Version < seen {
		return
	}
	a.mu.Lock()
	known := a.record != nil && a.record.Version == in.Version
	a.record = &in
	if a.abort != nil && in.Assignment != a.abortFor {
		a.abort(errMoved)
	}
	a.mu.Unlock()
	if known {
		return
	}
	if in.Version > seen {
		a.expiry.learn(in.Threshold.Time, now, now)
		a.save(func(s *State) {
			s.Version, s.Threshold, s.ReadAt = in.Version, in.Threshold, store.At(now)
		})
	}
	poke(a.kick)
}

// newest returns the newest record, or false while there is none.
func (a *Agent) newest() (store.Instance, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.record == nil {
		return store.Instance{}, false
	}
	return *a.record, true
}
