package agent

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// heart says in heartbeats what the agent is about.
type heart struct {
	o      *Options
	log    *slog.Logger
	disk   *disk
	key    string // to which registrations are sealed
	watch  *watch
	keeper *keeper
	now    chan struct{} // wakes it
	first  chan struct{} // closed after the first heartbeat was tried

	said   store.Beat // last written, and when; of the loop
	saidAt time.Time

	mu        sync.Mutex
	listener  Listener
	phase     string // what the worker does; "" shows the listener
	ending    Ending // of the last listener of this assignment; "": none has ended
	interrupt bool

	jobs               int  // that the listener has taken
	busy               bool // the last of them runs
	jobBegan, jobEnded store.Time
}

// settled is how long a change that nobody waits for must last to be written before its time: a machine that is given
// back and pooled passes through four phases in a tenth of a second.
const settled = time.Second

// run writes the heartbeat every Options.Beat, or IdleBeat, and before that when what it says has changed.
func (h *heart) run(ctx context.Context) {
	ticker := h.o.Clock.NewTicker(h.o.Beat)
	defer ticker.Stop()
	failed, tried := false, sync.OnceFunc(func() { close(h.first) })
	for {
		err := h.beat(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil && !failed:
			h.log.Warn("the heartbeat could not be written", logkey.Error, err)
		case err == nil && failed:
			h.log.Info("the heartbeat is written again")
		}
		failed = err != nil
		tried()
		if !h.sleep(ctx, ticker) {
			return
		}
	}
}

// sleep waits until the next heartbeat is due, and returns false once ctx has ended.
func (h *heart) sleep(ctx context.Context, ticker clock.Ticker) bool {
	var lasted <-chan time.Time // nil: what was written is so
	for {
		due := false
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C():
			due = !h.said.Idle || h.vitals() != h.said || h.o.Clock.Since(h.saidAt) >= h.o.IdleBeat
		case <-h.now:
			if due = urgent(h.said, h.vitals()); !due && lasted == nil {
				lasted = h.o.Clock.After(settled)
			}
		case <-lasted:
			due, lasted = h.vitals() != h.said, nil
		}
		if due {
			return true
		}
	}
}

// urgent reports whether others wait for what has changed: a release for the end of a job, a run's repair for when it was, and
// the next claim for a machine that it must not take. Other changes are written with the next heartbeat, or once they have lasted.
func urgent(was, is store.Beat) bool {
	return is.Busy != was.Busy || is.JobBegan != was.JobBegan || is.JobEnded != was.JobEnded || is.Interrupted != was.Interrupted
}

// beat writes one heartbeat. One that takes longer than a period is worth less than the next.
func (h *heart) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.o.Beat)
	defer cancel()
	b, now := h.vitals(), h.o.Clock.Now()
	err := h.o.Store.Beat(ctx, h.o.Principal, b, now)
	if err == nil {
		h.said, h.saidAt = b, now
	}
	return err
}

// vitals says what the agent is about. Assignment is the one it works on: while a job of the last
// run drains, that is still the last run's.
func (h *heart) vitals() store.Beat {
	work := h.disk.get().Work
	in, known := h.watch.newest()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lookAtJobs()
	b := store.Beat{
		JobBegan: h.jobBegan, JobEnded: h.jobEnded,
		Assignment: work.Assignment, Runner: h.phase, RunnerID: work.RunnerID,
		AgentVersion: h.o.Version, Interrupted: h.interrupt, Key: h.key,
	}
	if h.listener == nil && known {
		b.Assignment = in.Assignment
	}
	if h.listener != nil {
		s := h.listener.Status()
		b.Busy = s.State == Busy
		if b.Runner == "" {
			b.Runner = s.shown(work)
		}
		if s.RunnerID != 0 {
			b.RunnerID = s.RunnerID
		}
		if work.Ahead && (s.State == Listening || s.State == Busy) {
			b.Listening = work.Serial
		}
	}
	if b.Runner == "" {
		b.Runner = cmp.Or(string(h.ending), RunnerNone)
	}
	b.Idle = known && in.State == statemachine.Idle && !in.PooledAt.IsZero() && !b.Busy
	return b
}

// lookAtJobs notes when a job began or ended. h.mu is held.
func (h *heart) lookAtJobs() {
	if h.listener == nil {
		return
	}
	s, now := h.listener.Status(), store.At(h.o.Clock.Now())
	if s.Jobs > h.jobs {
		h.jobs, h.jobBegan, h.busy = s.Jobs, now, true
	}
	if h.busy && s.State != Busy {
		h.jobEnded, h.busy = now, false
	}
}

// shown is a listener's state, or why it is of no use.
func (s Status) shown(work Work) string {
	switch {
	case s.State == Exited:
		return string(s.ending(work.Mode, work.Online))
	case s.State == Blocked && s.Cause == CauseConflict:
		return string(Conflict)
	}
	return string(s.State)
}

// interrupts looks for an interruption notice until there is one. It stays true.
func (h *heart) interrupts(ctx context.Context) {
	ticker := h.o.Clock.NewTicker(h.o.NoticePoll)
	defer ticker.Stop()
	for !h.o.Machine.Interrupted(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
	h.log.Warn("this machine may soon be interrupted: it takes no further run")
	h.set(func() { h.interrupt = true })
	h.keeper.now("interruption notice")
}

// current returns the listener, or nil.
func (h *heart) current() Listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listener
}

// set changes what is shown, and has it written.
func (h *heart) set(change func()) {
	h.mu.Lock()
	change()
	h.mu.Unlock()
	poke(h.now)
}

func (h *heart) setListener(l Listener) {
	h.set(func() {
		h.lookAtJobs() // of the last listener
		h.listener, h.jobs, h.busy = l, 0, false
		if l != nil { // one that was found may have had jobs before
			s := l.Status()
			h.jobs, h.busy = s.Jobs, s.State == Busy
		}
	})
}

// setPhase shows what the agent does besides watching a listener.
func (h *heart) setPhase(phase string) { h.set(func() { h.phase = phase }) }

// setEnding keeps why the last listener ended.
func (h *heart) setEnding(e Ending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = e
}
