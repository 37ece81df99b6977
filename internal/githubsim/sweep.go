package githubsim

import "time"

// sweep carries out everything that time alone brings about: sessions that time out, registrations
// that lapse, jobs that waited too long. It runs before every look at the hub, so no goroutine is
// needed, and does nothing while no deadline has passed.
func (d *dispatcher) sweep(now time.Time) {
	if !d.monitor.passed(now) {
		return
	}
	for _, s := range d.sessions.open {
		d.sweepSession(s, now)
	}
	for r, why, at := d.registry.ended(now); r != nil; r, why, at = d.registry.ended(now) {
		d.remove(r, why, at)
	}
	d.sweepEvicted(now)
	d.jobs.expire(now)
	for d.hosted.finish(now) {
		d.jobs.expire(now) // what the end of one has queued may be as old
	}
	d.monitor.broadcast()
}

// sweepSession ends a session that went silent, and notes when it will go offline or time out.
func (d *dispatcher) sweepSession(s *session, now time.Time) {
	if s.over != nil || s.polling > 0 {
		return
	}
	at := s.seenAt.Add(d.opts.SessionTimeout)
	if now.Before(at) {
		d.monitor.dueBy(at)
		if offline := s.seenAt.Add(d.opts.OnlineFor); now.Before(offline) {
			d.monitor.dueBy(offline)
		}
		return
	}
	s.seen = max(s.seen, s.jobMsg) // whether it had begun is unknown: its job must not run twice
	d.closeSession(s, ErrSessionGone, at)
}

// sweepEvicted fails the jobs of evicted runners that have been silent.
func (d *dispatcher) sweepEvicted(now time.Time) {
	for id, e := range d.evicted {
		if now.Before(e.until) {
			d.monitor.dueBy(e.until)
			continue
		}
		delete(d.evicted, id)
		d.finish(e.job, Failure, "its runner was removed and did not report", e.until)
	}
}
