package agent

import (
	"cmp"
	"context"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// beats writes the heartbeat every Options.Beat, and at once when what it says has changed.
func (a *Agent) beats(ctx context.Context) {
	ticker := a.o.Clock.NewTicker(a.o.Beat)
	defer ticker.Stop()
	failed, first := false, true
	for {
		err := a.beat(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil && !failed:
			a.log.Warn("heartbeat not written", logkey.Error, err)
		case err == nil && failed:
			a.log.Info("heartbeat written again")
		}
		failed = err != nil
		if first {
			first = false
			close(a.beaten)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		case <-a.beatNow:
		}
	}
}

// beat writes one heartbeat. One that takes longer than a period is worth less than the next.
func (a *Agent) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.o.Beat)
	defer cancel()
	return a.o.Store.Beat(ctx, a.o.Principal, a.vitals(), a.o.Clock.Now())
}

// vitals says what the agent is about. Assignment is the one it works on: while a job of the last
// run drains, that is still the last run's.
func (a *Agent) vitals() store.Beat {
	work := a.disk.get().Work
	a.mu.Lock()
	defer a.mu.Unlock()
	b := store.Beat{
		Assignment: work.Assignment, Runner: a.phase, RunnerID: work.RunnerID,
		AgentVersion: a.o.Version, Interrupted: a.interrupt, Key: a.key.Public(),
	}
	if a.listener == nil && a.record != nil {
		b.Assignment = a.record.Assignment
	}
	if a.listener != nil {
		s := a.listener.Status()
		b.Busy = s.State == Busy
		if b.Runner == "" {
			b.Runner = s.shown(work)
		}
		if s.RunnerID != 0 {
			b.RunnerID = s.RunnerID
		}
	}
	if b.Runner == "" {
		b.Runner = cmp.Or(string(a.ending), RunnerNone)
	}
	return b
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
func (a *Agent) interrupts(ctx context.Context) {
	ticker := a.o.Clock.NewTicker(a.o.NoticePoll)
	defer ticker.Stop()
	for !a.o.Machine.Interrupted(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
	a.log.Warn("interruption notice")
	a.mu.Lock()
	a.interrupt = true
	a.mu.Unlock()
	poke(a.beatNow)
}
