package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// seats are the instances that a request owns.
type seats struct {
	*tenure
	cache *cache
	batch *batch
}

// serving counts the seats that are handed over or may be.
func serving(seats []snapshot, now time.Time) int {
	n := 0
	for _, s := range seats {
		if s.State == statemachine.Running || s.ready(now) {
			n++
		}
	}
	return n
}

// renew extends what is ready while others are still awaited, and what waits for GitHub alone, never past
// last.
func (h *seats) renew(ctx context.Context, seats []snapshot, last time.Time) (Result, error) {
	now := h.clock.Now()
	var res Result
	var due []snapshot
	until := func(s snapshot) time.Time { return earlier(now.Add(h.cfg.Limits.For(s.State)), last) }
	for _, s := range seats {
		at := s.Threshold.Add(-h.cfg.Limits.For(s.State) / 2)
		switch {
		case s.State == statemachine.Running:
		case now.Before(at):
			res = earliest(res, wakeAt(at, now))
		case !s.renewable(now): // a later read may renew it
			res = earliest(res, Result{After: h.cfg.WarmPoll})
		case until(s).After(s.Threshold.Time):
			due = append(due, s)
		}
	}
	return res, sideBySide(due, func(s snapshot) error {
		_, err := h.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.Renewed, Now: now, Limit: until(s).Sub(now)},
				cur.Assignment == s.Assignment && cur.renewable(now)
		})
		if ignoreStale(err) != nil {
			return fmt.Errorf("renew %s: %w", s.ID, err)
		}
		return nil
	})
}

// handOver makes ready instances running until count of them are, and returns those that are.
func (h *seats) handOver(ctx context.Context, r run, seats []snapshot, limit time.Duration) ([]snapshot, error) {
	now := h.clock.Now()
	given := make([]snapshot, 0, r.request.Count)
	var chosen []snapshot
	for _, s := range seats {
		if s.State == statemachine.Running {
			given = append(given, s)
		}
	}
	for _, s := range seats {
		if s.ready(now) && len(given)+len(chosen) < r.request.Count {
			chosen = append(chosen, s)
		}
	}
	done := make([]*snapshot, len(chosen))
	var writes errgroup.Group
	writes.SetLimit(fanOut)
	for i, s := range chosen {
		writes.Go(func() error {
			out, err := h.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
				return store.Transition{Event: statemachine.HandedOver, Now: now, Limit: limit},
					cur.Assignment == s.Assignment && cur.ready(now)
			})
			if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExpired) {
				return nil // no longer fit: not given, and its seat is filled again
			}
			if err != nil {
				return fmt.Errorf("hand over %s: %w", s.ID, err)
			}
			done[i] = &out
			h.recordPhases(out.Instance, now)
			return nil
		})
	}
	err := writes.Wait()
	for _, s := range done {
		if s != nil {
			given = append(given, *s)
		}
	}
	return given, err
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// seatBusy hands over those of the surplus that already run a job of the run: the limits of created and
// claimed are not made for jobs. It returns the others.
func (h *seats) seatBusy(ctx context.Context, rest []snapshot, limit time.Duration) ([]snapshot, error) {
	now := h.clock.Now()
	var busy, others []snapshot
	for _, s := range rest {
		if s.busy() && s.ready(now) {
			busy = append(busy, s)
		} else {
			others = append(others, s)
		}
	}
	return others, sideBySide(busy, func(s snapshot) error {
		out, err := h.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.HandedOver, Now: now, Limit: limit}, cur.Assignment == s.Assignment && cur.ready(now)
		})
		if err == nil {
			h.recordPhases(out.Instance, now)
		}
		if ignoreStale(err) != nil {
			return fmt.Errorf("assign %s: %w", s.ID, err)
		}
		return nil
	})
}

// seatsOf describes the instances a request was given. The time of a seat given before is kept.
func (h *seats) seatsOf(r run, given []snapshot) []store.Seat {
	before := map[store.InstanceID]store.Seat{}
	for _, s := range r.status.Instances {
		before[s.InstanceID] = s
	}
	out := make([]store.Seat, 0, len(given))
	for _, s := range given {
		seat, known := before[s.ID]
		if !known {
			seat = store.Seat{
				InstanceID: s.ID, InstanceType: s.InstanceType, UsageClass: s.UsageClass,
				Warm:    s.Assignment > 1,                                       // it was idle before
				Seconds: max(0, s.Since.Sub(r.status.PendingAt.Time).Seconds()), // one that was taken over was there before
			}
		}
		out = append(out, seat)
	}
	return out
}

// counts says how far a request is.
func (h *seats) counts(r run) store.Counts {
	now := h.clock.Now()
	c := store.Counts{Wanted: r.request.Count}
	c.Launching, c.Launched = h.cache.launchedFor(r.id, r.status.Attempt)
	h.cache.instances.eachHeld(r.id, func(in *instance) {
		s := in.snapshot()
		switch s.State {
		case statemachine.Claimed:
			c.Claimed++
		case statemachine.Created:
			c.Created++
		case statemachine.Running, statemachine.Idle, statemachine.Terminated, statemachine.None:
		}
		if s.State == statemachine.Running || s.ready(now) {
			c.Ready++
		}
	})
	c.Launching += h.batch.pending(r.id) + h.batch.writing(r.id, r.status.Attempt)
	return c
}

// maxRuntime is the time from Ready to the end of the run.
func (c Config) maxRuntime(r store.RunRequest) time.Duration {
	if d := r.MaxRuntime.Duration(); d > 0 {
		return d
	}
	return c.DefaultMaxRuntime
}
