package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// reconcilePending works towards Ready: judge, renew, hand over if complete, else fill the empty seats.
func (c *requests) reconcilePending(ctx context.Context, r run, seats []snapshot, blocked bool) (Result, error) {
	now := c.clock.Now()
	if reason, message := c.verdict(r, now); reason != "" {
		return c.statuses.failRequest(ctx, r, reason, message)
	}
	res := wakeAt(r.status.Deadline.Time, now)
	if blocked {
		c.cache.capacity.unwait(r.id)                                    // it can take nothing, and must keep nothing from others
		return res.sooner(c.cfg.HotPoll), c.statuses.progress(ctx, r.id) // an older attempt is still on its way out
	}
	renewed, renewErr := c.seats.renew(ctx, seats, r.status.Deadline.Add(time.Minute)) // a failed renewal must not keep other seats empty
	res = earliest(res, renewed)
	if serving(seats, now) >= r.request.Count {
		return res, errors.Join(renewErr, c.fulfil(ctx, r, seats))
	}
	filled, err := c.filler.fill(ctx, r, seats)
	if err = errors.Join(renewErr, err); err != nil {
		return res, err
	}
	if err := c.statuses.progress(ctx, r.id); err != nil {
		return res, err
	}
	return earliest(res, filled), nil
}

// verdict says why a pending request must fail now, if it must.
func (c *requests) verdict(r run, now time.Time) (reason, message string) {
	if err := c.specError(*r.request); err != nil {
		return ReasonSpec, err.Error()
	}
	if r.launching.full {
		return ReasonCapacity, r.lastProblem
	}
	if r.launching.never != "" {
		return r.launching.never, r.lastProblem
	}
	if !now.Before(r.status.Deadline.Time) {
		done := c.seats.counts(r)
		message := fmt.Sprintf("%d of %d ready after %s", done.Ready, done.Wanted, r.request.Timeout.Duration())
		if r.lastProblem != "" {
			message += "; last problem: " + r.lastProblem
		}
		waits := c.statuses.waitsForGitHub(r.id)
		if waits == "" && r.lastProblem == "" {
			waits = r.status.Message // what it waited for last
		}
		if waits != "" {
			message += "; " + waits
		}
		return ReasonTimeout, message
	}
	if r.vanished(now, c.writable(), c.cfg.ClientSilence) {
		return ReasonVanished, fmt.Sprintf("its client was not seen for %s", c.cfg.ClientSilence)
	}
	return "", ""
}
