package githubsim

import (
	"context"
	"fmt"
	"time"
)

// What GitHub, or somebody at its pages, does to runners apart from giving them jobs.

// SetConflicts makes the service believe of the next n sessions that their runners have one already.
func (h *Hub) SetConflicts(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conflicts = max(n, 0)
}

// Expire ends the session of a runner, which makes another one.
func (h *Hub) Expire(runnerID int64) error {
	return h.act(runnerID, func(r *runner, now time.Time) {
		if r.session != nil {
			h.closeSession(r.session, ErrSessionGone, now)
		}
	})
}

// OfferUpdate asks a runner to replace itself.
func (h *Hub) OfferUpdate(runnerID int64, u Update) error {
	return h.act(runnerID, func(r *runner, _ time.Time) {
		if r.session != nil {
			r.session.send(Message{Kind: MessageUpdate, Update: u})
		}
	})
}

// Evict removes a runner though a job runs on it, as somebody can in the settings at GitHub. The job goes on
// until the runner, which learns of it, reports its end.
func (h *Hub) Evict(runnerID int64) error {
	return h.act(runnerID, func(r *runner, now time.Time) {
		if s := r.session; s != nil && r.job != nil {
			h.evicted[s.id] = eviction{r.job, now.Add(h.opts.SessionTimeout)}
			h.dueBy(now.Add(h.opts.SessionTimeout))
			r.job = nil
		}
		h.remove(r, RemovedDeleted, now)
	})
}

// eviction is a job whose runner is registered no more, and how long the service waits for its end.
type eviction struct {
	job   *job
	until time.Time
}

// sweepEvicted fails the jobs of evicted runners that have been silent. The caller holds the lock.
func (h *Hub) sweepEvicted(now time.Time) {
	for id, e := range h.evicted {
		if now.Before(e.until) {
			h.dueBy(e.until)
			continue
		}
		delete(h.evicted, id)
		h.finish(e.job, Failure, "its runner was removed and did not report", e.until)
	}
}

func (h *Hub) act(runnerID int64, f func(r *runner, now time.Time)) error {
	var err error
	h.view(func(now time.Time) {
		r := h.runners.get(runnerID)
		if r == nil {
			err = fmt.Errorf("runner %d: %w", runnerID, ErrRunnerGone)
			return
		}
		f(r, now)
		h.broadcast()
	})
	return err
}

// Upload takes a log, of which nothing is kept.
func (s *Session) Upload(ctx context.Context, _ string) error {
	return s.hub.do(ctx, CallLogs, func(time.Time) error { return nil })
}
