package reconciler

import (
	"context"
	"errors"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// fulfil hands over as many seats as wanted, then writes Ready. Seats beyond that are given back
// by reconcileReady. A crash in between is nothing special: what runs already still counts.
func (c *requests) fulfil(ctx context.Context, r run, seats []snapshot) error {
	c.cache.capacity.unwait(r.id)
	now := c.clock.Now()
	given, err := c.seats.handOver(ctx, r, seats, c.cfg.maxRuntime(*r.request))
	if err != nil {
		return err
	}
	if len(given) < r.request.Count {
		c.queues.requests.Add(r.id) // one was lost in the meantime: its seat is empty again
		return nil
	}
	st := *r.status
	if last, phases := timeline.ReadyLast(st, recordsOf(given), now); len(phases) > 0 {
		c.cache.note(r.id, store.CodePhases, "%s", timeline.Slow(last, phases))
	}
	st.Instances = c.seats.seatsOf(r, given)
	st.Counts = c.seats.counts(r)
	st.Reason, st.Message, st.EndsAt = "", "", store.At(now.Add(c.cfg.maxRuntime(*r.request)))
	if err := c.statuses.putStatus(ctx, st, statemachine.Fulfil, now); err != nil {
		return err
	}
	c.queues.requests.Add(r.id)
	return nil
}

// reconcileReady looks after a request that is Ready: lost seats are refilled until its time is up, surplus
// goes back.
func (c *requests) reconcileReady(ctx context.Context, r run, seats []snapshot) (Result, error) {
	now := c.clock.Now()
	end := r.status.EndsAt.Time
	if end.IsZero() { // the status was written by an earlier version
		end = r.status.ReadyAt.Add(c.cfg.maxRuntime(*r.request))
	}
	var served, rest []snapshot
	var last time.Time // to which those that run may run
	for _, s := range seats {
		if s.State == statemachine.Running {
			last = later(last, s.Threshold.Time)
			served = append(served, s)
		} else {
			rest = append(rest, s)
		}
	}
	running := len(served)
	if running > 0 && last.Before(end) {
		end = last // a crash came between handing them over and saying Ready: their time began before
	}
	if !now.Before(end) {
		back, err := c.releases.release(ctx, rest, store.ReleaseDrain, requestOver)
		if err != nil {
			return back, err
		}
		return c.statuses.finishRequest(ctx, r, len(seats), ReasonMaxRuntime, back)
	}
	res := wakeAt(end, now)
	if running >= r.request.Count {
		c.cache.capacity.unwait(r.id)
		if err := c.statuses.recordOffline(ctx, r, offlineOf(r, served)); err != nil {
			return res, err
		}
		rest, busyErr := c.seats.seatBusy(ctx, rest, end.Sub(now))
		back, err := c.releases.release(ctx, rest, store.ReleaseDrain, surplusSeat)
		return earliest(res, back), errors.Join(busyErr, err)
	}
	if serving(seats, now) > running {
		given, err := c.seats.handOver(ctx, r, seats, end.Sub(now))
		if err != nil {
			return res, err
		}
		st := *r.status
		st.Instances, st.Counts, st.Message = c.seats.seatsOf(r, given), c.seats.counts(r), ""
		c.cache.note(r.id, store.CodeRefilled, "%d", len(given)-running)
		c.log.Info("seat refilled", logkey.RequestID, r.id, logkey.Count, len(given)-running)
		return res.sooner(time.Millisecond), c.statuses.putStatus(ctx, st, statemachine.Observe, now)
	}
	if end.Sub(now) < c.cfg.Limits.ClaimGate {
		return res, nil // its time is up before a seat could serve it
	}
	if _, err := c.cfg.query(*r.request); err != nil {
		c.log.Warn("a lost seat cannot be refilled: its class is no longer configured", logkey.RequestID, r.id, logkey.Error, err)
		return res, nil
	}
	if err := c.statuses.recordEmptySeat(ctx, r, offlineOf(r, seats)); err != nil {
		return res, err
	}
	renewed, renewErr := c.seats.renew(ctx, rest, end)
	filled, err := c.filler.fill(ctx, r, seats)
	return earliest(earliest(res, renewed), filled), errors.Join(renewErr, err)
}
