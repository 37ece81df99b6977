package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// pauseFirst and pauseMax bound the time between two listeners of which the first failed. The first
// pause is short because most crashes do not repeat; the last keeps far below GitHub's limit of
// 1,500 registrations per 5 minutes (docs/goals.md#github) with any number of machines it allows.
const (
	pauseFirst = time.Second
	pauseMax   = 30 * time.Second
)

// cutLimit is how long a job may take to be cut (agent/actionsrunner: 25 s after SIGINT, 5 s after SIGTERM, and its
// end). The handshake is counted from there, and so is CleanLimit.
const cutLimit = 45 * time.Second

// stable is how long a listener must have been online for its failure not to count as one in a row.
const stable = time.Minute

func newPause() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(pauseFirst),
		backoff.WithMaxInterval(pauseMax), backoff.WithMaxElapsedTime(0))
}

// clean ends what runs for an earlier assignment, makes the machine clean, and answers the new one.
func (a *Agent) clean(ctx context.Context, in store.Instance) (wake time.Time, more bool) {
	a.setPhase(RunnerCleaning)
	defer a.setPhase("")
	began := a.o.Clock.Now()
	needed := in.RunID == "" || a.disk.get().Work.used()
	limit := a.o.CleanLimit
	if l := a.current(); l != nil && l.Status().State == Busy {
		limit += cutLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := a.end(limited, modeOf(in.Release))
	if errors.Is(err, ErrBusy) { // it took a job just now
		return a.o.Clock.Now().Add(a.o.Poll), false
	}
	if err == nil && a.disk.get().Foul != "" {
		return time.Time{}, true
	}
	if err == nil && needed {
		err = a.o.Machine.Scrub(limited, in.ResourceClass)
	}
	if ctx.Err() != nil {
		return time.Time{}, false
	}
	v := store.SignalValue{RunID: in.RunID, Assignment: in.Assignment}
	switch {
	case err != nil && in.RunID == "":
		v.Signal, v.Detail = store.RemoveFailed, store.Tail(err.Error())
	case err != nil:
		v.Signal, v.Cause, v.Detail = store.RegFailed, store.CauseMachine, store.Tail(err.Error())
	case in.RunID == "":
		v.Signal = store.RemoveOK
	}
	a.retry = retry{}
	a.pause.Reset()
	a.setEnding("")
	a.save(func(s *State) {
		s.Work = Work{Assignment: in.Assignment, RunID: in.RunID, Dirty: err != nil}
		s.Repository = a.o.Repository
	})
	log := a.log.With(logkey.Assignment, in.Assignment, logkey.Seconds, a.o.Clock.Since(began).Seconds())
	switch {
	case errors.Is(err, ErrUsedUp):
		log.Info("machine served its run", logkey.Error, err)
	case err != nil:
		log.Error("machine not clean", logkey.Error, err)
	default:
		log.Info("machine ready for assignment", logkey.RequestID, in.RunID)
	}
	if v.Signal != "" {
		a.report(v)
	}
	return time.Time{}, true
}

// modeOf reads the mode of a record: nothing but an order to hurry ends a job.
func modeOf(m store.ReleaseMode) store.ReleaseMode {
	if m == store.Now {
		return store.Now
	}
	return store.Drain
}

// end stops the listener and forgets it once none of its processes is left.
func (a *Agent) end(ctx context.Context, mode store.ReleaseMode) error {
	l := a.current()
	if l == nil {
		return nil
	}
	if err := l.Stop(ctx, mode); err != nil {
		return fmt.Errorf("stop listener: %w", err)
	}
	a.learn(l.Status(), a.o.Clock.Now()) // its last job may have ended meanwhile
	l.Detach()
	a.setListener(nil)
	a.save(func(s *State) { s.Work.Listener = process.Ref{} })
	return nil
}

// start starts a listener. The registration counts as used before that: should this process die
// meanwhile, the next one asks for another.
func (a *Agent) start(ctx context.Context, in store.Instance, reg store.Registration) {
	a.retry.material, a.retry.restart = &reg, false
	err := a.disk.update(func(s *State) {
		if s.Work.Serial != reg.Serial {
			s.Work.Online = false
		}
		s.Serial = max(s.Serial, reg.Serial)
		s.Work.Serial, s.Work.Name, s.Work.Mode, s.Work.RunnerID = reg.Serial, reg.Name, reg.Mode, reg.RunnerID
		s.Work.Failed = false
	})
	var l Listener
	if err == nil {
		l, err = a.launch(ctx, in, reg)
	}
	switch {
	case err != nil && (ctx.Err() != nil || a.deadman.halted.Load() || errors.Is(err, errMoved)):
		return
	case err != nil:
		a.failedStart(in, reg, err)
		return
	}
	a.log.Info("listener started", logkey.Runner, reg.Name, logkey.RequestID, in.RunID, logkey.PID, l.Ref().PID)
	a.setListener(l)
	a.save(func(s *State) { s.Work.Listener = l.Ref() })
}

// launch calls Runner.Start, and ends the call when the assignment is over.
func (a *Agent) launch(ctx context.Context, in store.Instance, reg store.Registration) (Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, a.o.StartLimit)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	a.mu.Lock()
	moved := a.record.Assignment != in.Assignment
	a.abort, a.abortFor = abort, in.Assignment
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.abort = nil
		a.mu.Unlock()
	}()
	if moved || a.deadman.halted.Load() {
		return nil, errMoved
	}
	open, err := a.key.Open(reg)
	if err != nil {
		return nil, &keyError{err}
	}
	l, err := a.o.Runner.Start(ctx, open, string(in.RunID))
	if err != nil && errors.Is(context.Cause(ctx), errMoved) {
		return nil, errMoved
	}
	return l, err
}

// failedStart reports a start that failed, and says how to go on.
func (a *Agent) failedStart(in store.Instance, reg store.Registration, err error) {
	cause := causeOf(err)
	if errors.Is(err, githubapi.ErrNameTaken) || cause == store.CauseRefused && aged(reg, a.o.Clock.Now().Add(a.o.Offset())) {
		a.another(in, reg, err)
		return
	}
	a.log.Warn("listener not started", logkey.Runner, reg.Name, logkey.Cause, cause, logkey.Error, err)
	if cause == "" {
		a.retry.failures++
		cause = ownCause(err, a.retry.failures)
	}
	final := cause != store.CauseThrottled && cause != store.CauseUnavailable
	a.retry.restart, a.retry.at = !final, time.Time{}
	if !final { // else the controller paces
		a.retry.at = a.o.Clock.Now().Add(a.pause.NextBackOff())
	}
	a.save(func(s *State) { s.Work.Failed = final })
	a.report(store.SignalValue{
		Signal: store.RegFailed, RunID: in.RunID, Assignment: in.Assignment, Serial: reg.Serial,
		Cause: cause, Detail: store.Tail(err.Error()),
	})
}

// ownCause says what to report of the nth start in a row that failed without a word of GitHub's. Only what the
// machine itself said of a file or program is certainly its own fault; a full disk does not pass.
func ownCause(err error, n int) string {
	var path *fs.PathError
	var link *os.LinkError
	var program *exec.Error
	var key *keyError
	switch {
	case errors.As(err, &key):
		return store.CauseMachine
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS),
		strings.Contains(err.Error(), "No space left on device"): // dotnet/runtime, Interop.Errors.cs: strerror's words
		return store.CauseMachine
	case n < maxFailures: // perhaps it passes
		return store.CauseUnavailable
	case errors.Is(err, ErrUnfit), errors.As(err, &path), errors.As(err, &link), errors.As(err, &program):
		return store.CauseMachine
	}
	return store.CauseRefused
}

// another asks for another registration in place of one that GitHub being away has spoilt, which ends no
// machine. Names are never used twice, so one that is taken is so by an earlier try of ours whose answer was
// lost. There was a pause after that try, and the next registration has a gate to keep, so it does not
// wait for another one.
func (a *Agent) another(in store.Instance, reg store.Registration, err error) {
	a.log.Warn("registration of no use any more", logkey.Runner, reg.Name, logkey.Error, err)
	a.retry.restart, a.retry.at = false, time.Time{}
	a.save(func(s *State) { s.Work.Failed = false })
	a.report(store.SignalValue{Signal: store.RegNext, RunID: in.RunID, Assignment: in.Assignment, Serial: reg.Serial})
}

// retire ends what is left of a listener that is of no use.
func (a *Agent) retire(ctx context.Context, d decision) (wake time.Time, more bool) {
	l := a.current()
	st, work := l.Status(), a.disk.get().Work
	if st.State == Exited {
		a.setEnding(st.ending(work.Mode, work.Online))
	}
	a.log.Warn("listener retired", logkey.Runner, work.Name, logkey.State, st.State,
		logkey.Exit, st.Exit, logkey.Cause, st.Cause, logkey.Detail, st.Detail)
	limited, cancel := context.WithTimeout(ctx, a.o.CleanLimit)
	defer cancel()
	err := a.end(limited, modeOf(d.mode))
	switch {
	case ctx.Err() != nil:
		return time.Time{}, false
	case errors.Is(err, ErrBusy):
		return a.o.Clock.Now().Add(a.o.Poll), false
	case err != nil:
		a.log.Error("listener not ended", logkey.Error, err)
		return a.o.Clock.Now().Add(pauseMax), false
	}
	a.retry.restart = d.restart
	if d.counts {
		a.retry.failures++
	}
	if d.counts || d.pause {
		a.retry.at = a.o.Clock.Now().Add(a.pause.NextBackOff())
	}
	a.save(func(s *State) { s.Work.Failed = d.failed })
	return time.Time{}, true
}
