package githubsim

import "time"

// dueBy notes that something may be due at the given instant (zero: nothing).
func (h *Hub) dueBy(at time.Time) {
	if !at.IsZero() && (h.next.IsZero() || at.Before(h.next)) {
		h.next = at
	}
}

// sweep carries out everything that time alone brings about: sessions that time out, registrations
// that lapse, jobs that waited too long. It runs before every look at the hub, so no goroutine is
// needed, and does nothing while no deadline has passed. The caller holds the lock.
func (h *Hub) sweep(now time.Time) {
	if h.next.IsZero() || now.Before(h.next) {
		return
	}
	h.next = time.Time{}
	for _, s := range h.sessions {
		h.sweepSession(s, now)
	}
	h.endRunners(now)
	h.sweepEvicted(now)
	for _, q := range h.queue {
		for _, j := range append([]*job(nil), q...) {
			at := j.QueuedAt.Add(queuedFor)
			if now.Before(at) {
				h.dueBy(at)
				break // oldest first
			}
			h.dequeue(j)
			h.finish(j, Cancelled, "no runner took it within 24 hours", at)
		}
	}
	h.broadcast()
}

// sweepSession ends a session that went silent, and notes when it will go offline or time out.
func (h *Hub) sweepSession(s *session, now time.Time) {
	if s.over != nil || s.polling > 0 {
		return
	}
	at := s.seenAt.Add(h.opts.SessionTimeout)
	if now.Before(at) {
		h.dueBy(at)
		if offline := s.seenAt.Add(h.opts.OnlineFor); now.Before(offline) {
			h.dueBy(offline)
		}
		return
	}
	s.seen = max(s.seen, s.jobMsg) // whether it had begun is unknown: its job must not run twice
	h.closeSession(s, ErrSessionGone, at)
}

// runnerDue returns when a runner's registration ends if nothing happens; zero: never.
func (h *Hub) runnerDue(r *runner) time.Time {
	if r.job != nil {
		return time.Time{}
	}
	var due time.Time
	if r.session == nil {
		due = r.lastSeen.Add(prunedAfter)
		if r.Ephemeral {
			due = r.lastSeen.Add(ephemeralPrunedAfter)
		}
	}
	if r.JIT && h.opts.JITLapse > 0 {
		if lapse := r.idleFrom.Add(h.opts.JITLapse); due.IsZero() || lapse.Before(due) {
			due = lapse
		}
	}
	return due
}
