package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// cutLimit is how long a job may take to be cut (agent/actionsrunner: 25 s after SIGINT, 5 s after SIGTERM, and its
// end). The handshake is counted from there, and so is CleanLimit.
const cutLimit = 45 * time.Second

// clean ends what runs for an earlier assignment, makes the machine clean, and answers the new one.
func (w *worker) clean(ctx context.Context, in store.Instance) (wake time.Time, more bool) {
	w.heart.setPhase(RunnerCleaning)
	defer w.heart.setPhase("")
	began := w.o.Clock.Now()
	needed := in.RunID == "" || w.disk.get().Work.used()
	limit := w.o.CleanLimit
	if l := w.heart.current(); l != nil && l.Status().State == Busy {
		limit += cutLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := w.end(limited, modeOf(in.Release))
	if errors.Is(err, ErrBusy) { // it took a job just now
		return w.o.Clock.Now().Add(w.o.Poll), false
	}
	if err == nil && w.disk.get().Foul != "" {
		return time.Time{}, true
	}
	if err == nil && needed {
		err = w.o.Machine.Scrub(limited, in.ResourceClass)
	}
	if ctx.Err() != nil {
		return time.Time{}, false
	}
	v := store.SignalValue{RunID: in.RunID, Assignment: in.Assignment}
	switch {
	case err != nil && in.RunID == "":
		v.Signal, v.Cause, v.Detail = store.RemoveFailed, uncleanCause(err), store.Tail(err.Error())
	case err != nil:
		v.Signal, v.Cause, v.Detail = store.RegFailed, store.CauseMachine, store.Tail(err.Error())
		if why := w.o.Refusal(in.ResourceClass); why != "" {
			v.Cause, v.Detail = store.CauseHost, why
		}
	case in.RunID == "":
		v.Signal = store.RemoveOK
	}
	w.retry = retry{}
	w.pause.Reset()
	w.heart.setEnding("")
	w.disk.save(func(s *State) {
		s.Work = Work{Assignment: in.Assignment, RunID: in.RunID, Dirty: err != nil}
		s.Repository = w.o.Repository
	})
	log := w.log.With(logkey.Assignment, in.Assignment, logkey.Seconds, w.o.Clock.Since(began).Seconds())
	switch {
	case errors.Is(err, ErrUsedUp):
		log.Info("machine served its run", logkey.Error, err)
	case err != nil:
		log.Error("this machine could not be cleaned after its run", logkey.Error, err)
	default:
		log.Info("machine ready for assignment", logkey.RequestID, in.RunID)
	}
	w.report(v)
	return time.Time{}, true
}

// modeOf reads the mode of a record: nothing but an order to hurry ends a job.
func modeOf(m store.ReleaseMode) store.ReleaseMode {
	if m == store.ReleaseNow {
		return store.ReleaseNow
	}
	return store.ReleaseDrain
}

// end stops the listener and forgets it once none of its processes is left.
func (w *worker) end(ctx context.Context, mode store.ReleaseMode) error {
	l := w.heart.current()
	if l == nil {
		return nil
	}
	if err := l.Stop(ctx, mode); err != nil {
		return fmt.Errorf("stop listener: %w", err)
	}
	w.learn(l.Status(), w.o.Clock.Now()) // its last job may have ended meanwhile
	l.Detach()
	w.setListener(nil)
	w.disk.save(func(s *State) { s.Work.Listener, s.Work.Boundary = process.Ref{}, "" })
	return nil
}

// retire ends what is left of a listener that is of no use.
func (w *worker) retire(ctx context.Context, d decision) (wake time.Time, more bool) {
	l := w.heart.current()
	st, work := l.Status(), w.disk.get().Work
	var ending Ending
	if st.State == Exited {
		ending = st.ending(work.Mode, work.Online)
		w.heart.setEnding(ending)
	}
	log := w.log.With(logkey.Runner, work.Name, logkey.State, st.State, logkey.Exit, st.Exit, logkey.Cause, st.Cause, logkey.Detail, st.Detail)
	switch {
	case work.waits(): // GitHub removes the registrations of listeners that wait for minutes
		log.Info("an idle machine's listener is replaced")
	case ending == Completed && !d.failed:
		log.Info("the listener had its one job and is replaced")
	default:
		log.Warn("the listener is of no further use and is ended")
	}
	limited, cancel := context.WithTimeout(ctx, w.o.CleanLimit)
	defer cancel()
	err := w.end(limited, modeOf(d.mode))
	switch {
	case ctx.Err() != nil:
		return time.Time{}, false
	case errors.Is(err, ErrBusy):
		return w.o.Clock.Now().Add(w.o.Poll), false
	case err != nil:
		w.log.Error("the listener's processes could not be ended; it is tried again", logkey.Error, err)
		return w.o.Clock.Now().Add(pauseMax), false
	}
	w.retry.restart = d.restart
	if d.counts {
		w.retry.failures++
	}
	if d.counts || d.pause {
		w.retry.at = w.o.Clock.Now().Add(w.pause.NextBackOff())
	}
	w.disk.save(func(s *State) { s.Work.Failed = d.failed })
	return time.Time{}, true
}
