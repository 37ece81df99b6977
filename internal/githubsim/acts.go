package githubsim

import (
	"context"
	"time"
)

// What GitHub, or somebody at its pages, does to runners apart from giving them jobs.

// SetConflicts makes the service believe of the next n sessions that their runners have one already.
func (h *Hub) SetConflicts(n int) {
	h.monitor.with(func(time.Time) { h.sessions.conflicts = max(n, 0) })
}

// Expire ends the session of a runner, which makes another one.
func (h *Hub) Expire(runnerID int64) error {
	return h.dispatcher.act(runnerID, func(r *runner, now time.Time) {
		if r.session != nil {
			h.dispatcher.closeSession(r.session, ErrSessionGone, now)
		}
	})
}

// OfferUpdate asks a runner to replace itself.
func (h *Hub) OfferUpdate(runnerID int64, u Update) error {
	return h.dispatcher.act(runnerID, func(r *runner, _ time.Time) {
		if r.session != nil {
			r.session.send(Message{Kind: MessageUpdate, Update: u})
		}
	})
}

// Evict removes a runner though a job runs on it, as somebody can in the settings at GitHub. The job goes on
// until the runner, which learns of it, reports its end.
func (h *Hub) Evict(runnerID int64) error {
	return h.dispatcher.act(runnerID, h.dispatcher.evict)
}

// Upload takes a log, of which nothing is kept.
func (s *Session) Upload(ctx context.Context, _ string) error {
	return s.hub.do(ctx, CallLogs, func(time.Time) error { return nil })
}
