package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// pauseFirst and pauseMax bound the time between two listeners of which the first failed. The first
// pause is short because most crashes do not repeat; the last keeps far below GitHub's limit of
// 1,500 registrations per 5 minutes (docs/goals.md#github) with any number of machines it allows.
const (
	pauseFirst = time.Second
	pauseMax   = 30 * time.Second
)

// stable is how long a listener must have been online for its failure not to count as one in a row.
const stable = time.Minute

func newPause() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(pauseFirst),
		backoff.WithMaxInterval(pauseMax), backoff.WithMaxElapsedTime(0))
}

// start starts a listener. The registration counts as used before that: should this process die
// meanwhile, the next one asks for another.
func (w *worker) start(ctx context.Context, in store.Instance, reg store.Registration) {
	w.retry.material, w.retry.restart = &reg, false
	err := w.disk.update(func(s *State) {
		if s.Work.Serial != reg.Serial {
			s.Work.Online = false
		}
		s.Serial = max(s.Serial, reg.Serial)
		s.Work.Serial, s.Work.Name, s.Work.Mode, s.Work.RunnerID = reg.Serial, reg.Name, reg.Mode, reg.RunnerID
		s.Work.Ahead, s.Work.Failed = reg.Ahead, false
	})
	if err == nil && reg.Ahead {
		err = w.confirmer.open()
	}
	var l Listener
	if err == nil {
		l, err = w.launch(ctx, in, reg)
	}
	switch {
	case err != nil && (ctx.Err() != nil || w.deadman.halted.Load() || errors.Is(err, errMoved)):
		return
	case err != nil:
		w.failedStart(in, reg, err)
		return
	}
	w.log.Info("listener started", logkey.Runner, reg.Name, logkey.RequestID, in.RunID, logkey.PID, l.Ref().PID)
	w.setListener(l)
	w.disk.save(func(s *State) { s.Work.Listener, s.Work.Boundary = l.Ref(), l.Boundary() })
}

// launch calls Runner.Start, and ends the call when the assignment is over.
func (w *worker) launch(ctx context.Context, in store.Instance, reg store.Registration) (Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.StartLimit)
	defer cancel()
	ctx, release := w.watch.hold(ctx, in.Assignment)
	defer release()
	if errors.Is(context.Cause(ctx), errMoved) || w.deadman.halted.Load() {
		return nil, errMoved
	}
	open, err := w.key.Open(reg)
	if err != nil {
		return nil, &keyError{err}
	}
	w.keeper.learn(open.Secret)
	l, err := w.o.Runner.Start(ctx, open, string(in.RunID))
	if err != nil && errors.Is(context.Cause(ctx), errMoved) {
		return nil, errMoved
	}
	return l, err
}

// failedStart reports a start that failed, and says how to go on.
func (w *worker) failedStart(in store.Instance, reg store.Registration, err error) {
	cause := causeOf(err)
	w.retry.restart, w.retry.at = false, time.Time{}
	if in.RunID == "" { // it was for speed alone
		w.log.Info("an idle machine's listener could not be started; another registration is asked for", logkey.Runner, reg.Name, logkey.Error, err)
		w.retry.failures, w.retry.at = w.retry.failures+1, w.o.Clock.Now().Add(w.pause.NextBackOff())
		w.report(store.SignalValue{Signal: store.RegNext, Assignment: in.Assignment, Serial: reg.Serial})
		return
	}
	// A registration that GitHub being away has spoilt ends no machine: another one is asked for in its place. Names are never
	// used twice, so one that is taken is so by an earlier try of ours whose answer was lost. There was a pause after that try,
	// and the next registration has a gate to keep, so it does not wait for another one.
	if errors.Is(err, githubapi.ErrNameTaken) || cause == store.CauseRefused && aged(reg, w.o.Clock.Now().Add(w.o.Offset())) {
		w.log.Warn("the registration has expired or was used; another is asked for", logkey.Runner, reg.Name, logkey.Error, err)
		w.disk.save(func(s *State) { s.Work.Failed = false })
		w.report(store.SignalValue{Signal: store.RegNext, RunID: in.RunID, Assignment: in.Assignment, Serial: reg.Serial})
		return
	}
	w.log.Warn("the listener could not be started", logkey.Runner, reg.Name, logkey.Cause, cause, logkey.Error, err)
	if cause == "" {
		w.retry.failures++
		cause = ownCause(err, w.retry.failures)
	}
	final := cause != store.CauseThrottled && cause != store.CauseUnavailable
	if !final { // else the controller paces
		w.retry.restart, w.retry.at = true, w.o.Clock.Now().Add(w.pause.NextBackOff())
	}
	w.disk.save(func(s *State) { s.Work.Failed = final })
	w.report(store.SignalValue{
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
