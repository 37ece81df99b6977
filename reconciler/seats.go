package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// pending works towards Ready: judge, renew, hand over if complete, else fill the empty seats.
func (t *term) pending(ctx context.Context, r run, seats []snapshot, blocked bool) (Result, error) {
	now := t.clock.Now()
	if reason, message := t.verdict(r, now); reason != "" {
		return t.failRequest(ctx, r, reason, message)
	}
	res := wakeAt(r.status.Deadline.Time, now)
	if blocked {
		t.unwait(r.id)                        // it can take nothing, and must keep nothing from others
		return res.sooner(t.cfg.HotPoll), nil // an older attempt is still on its way out
	}
	renewed, err := t.renew(ctx, seats, r.status.Deadline.Add(time.Minute))
	if err != nil {
		return res, err
	}
	res = earliest(res, renewed)
	if serving(seats, now) >= r.request.Count {
		return res, t.fulfil(ctx, r, seats)
	}
	filled, err := t.fill(ctx, r, seats)
	if err != nil {
		return res, err
	}
	if err := t.progress(ctx, r.id); err != nil {
		return res, err
	}
	return earliest(res, filled), nil
}

// verdict says why a pending request must fail now, if it must.
func (t *term) verdict(r run, now time.Time) (reason, message string) {
	if err := t.specError(*r.request); err != nil {
		return ReasonSpec, err.Error()
	}
	if r.full {
		return ReasonCapacity, r.problem
	}
	if r.hopeless {
		return ReasonHopeless, r.problem
	}
	if !now.Before(r.status.Deadline.Time) {
		done := t.counts(r)
		message := fmt.Sprintf("%d of %d ready after %s", done.Ready, done.Wanted, r.request.Timeout.Duration())
		if r.problem != "" {
			message += "; last problem: " + r.problem
		}
		if waits := t.waitsForGitHub(r.id); waits != "" {
			message += "; " + waits
		}
		return ReasonTimeout, message
	}
	if r.vanished(now, t.writable(), t.cfg.ClientSilence) {
		return ReasonVanished, fmt.Sprintf("its client was not seen for %s", t.cfg.ClientSilence)
	}
	return "", ""
}

// waitsForGitHub says what keeps a runner of the request from GitHub, in the words of its agent; "" if
// nothing does. Nothing was lost by it, so it is no problem of the run's yet.
func (t *term) waitsForGitHub(id store.RequestID) string {
	for _, s := range t.view.heldBy(id) {
		if why := s.waitsForGitHub(); why != "" {
			return fmt.Sprintf("instance %s: %s", s.ID, why)
		}
	}
	return ""
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
func (t *term) renew(ctx context.Context, seats []snapshot, last time.Time) (Result, error) {
	now := t.clock.Now()
	var res Result
	for _, s := range seats {
		if s.State == statemachine.Running {
			continue
		}
		limit := t.cfg.Limits.For(s.State)
		due := s.Threshold.Add(-limit / 2)
		if now.Before(due) {
			res = earliest(res, wakeAt(due, now))
			continue
		}
		if !s.renewable(now) { // it may be by then
			res = earliest(res, Result{After: t.cfg.WarmPoll})
			continue
		}
		until := now.Add(limit)
		if until.After(last) {
			until = last
		}
		if !until.After(s.Threshold.Time) {
			continue
		}
		_, err := t.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.Renewed, Now: now, Limit: until.Sub(now)},
				cur.Assignment == s.Assignment && cur.renewable(now)
		})
		if ignoreStale(err) != nil {
			return res, fmt.Errorf("renew %s: %w", s.ID, err)
		}
	}
	return res, nil
}

// fulfil hands over as many seats as wanted, then writes Ready. Seats beyond that are given back
// by keep. A crash in between is nothing special: what runs already still counts.
func (t *term) fulfil(ctx context.Context, r run, seats []snapshot) error {
	t.unwait(r.id)
	now := t.clock.Now()
	given, err := t.handOver(ctx, r, seats, t.cfg.maxRuntime(*r.request))
	if err != nil {
		return err
	}
	if len(given) < r.request.Count {
		t.requests.add(r.id) // one was lost in the meantime: its seat is empty again
		return nil
	}
	st := *r.status
	st.Instances = t.seatsOf(r, given)
	st.Counts = t.counts(r)
	st.Reason, st.Message = "", ""
	if err := t.putStatus(ctx, st, statemachine.Fulfil, now); err != nil {
		return err
	}
	t.requests.add(r.id)
	return nil
}

// handOver makes ready instances running until count of them are, and returns those that are.
func (t *term) handOver(ctx context.Context, r run, seats []snapshot, limit time.Duration) ([]snapshot, error) {
	now := t.clock.Now()
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
			out, err := t.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
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

// keep looks after a request that is Ready: lost seats are refilled until its time is up, surplus
// goes back.
func (t *term) keep(ctx context.Context, r run, seats []snapshot) (Result, error) {
	now := t.clock.Now()
	end := r.status.ReadyAt.Add(t.cfg.maxRuntime(*r.request))
	running := 0
	var rest []snapshot
	var last time.Time // to which those that run may run
	for _, s := range seats {
		if s.State == statemachine.Running {
			running++
			last = later(last, s.Threshold.Time)
		} else {
			rest = append(rest, s)
		}
	}
	if running > 0 && last.Before(end) {
		end = last // a crash came between handing them over and saying Ready: their time began before
	}
	if !now.Before(end) {
		back, err := t.giveBack(ctx, rest, store.Drain, over)
		if err != nil {
			return back, err
		}
		return t.finishRequest(ctx, r, len(seats), ReasonMaxRuntime, back)
	}
	res := wakeAt(end, now)
	if running >= r.request.Count {
		t.unwait(r.id)
		rest, err := t.seatBusy(ctx, rest, end.Sub(now))
		if err != nil {
			return res, err
		}
		back, err := t.giveBack(ctx, rest, store.Drain, surplus)
		return earliest(res, back), err
	}
	if serving(seats, now) > running {
		given, err := t.handOver(ctx, r, seats, end.Sub(now))
		if err != nil {
			return res, err
		}
		st := *r.status
		st.Instances, st.Counts, st.Message = t.seatsOf(r, given), t.counts(r), ""
		t.log.Info("seat refilled", logkey.RequestID, r.id, logkey.Count, len(given)-running)
		return res.sooner(time.Millisecond), t.putStatus(ctx, st, statemachine.Observe, now)
	}
	if end.Sub(now) < t.cfg.Limits.ClaimGate {
		return res, nil // its time is up before a seat could serve it
	}
	if _, err := t.cfg.query(*r.request); err != nil {
		t.log.Warn("cannot refill a seat", logkey.RequestID, r.id, logkey.Error, err) // its class was removed
		return res, nil
	}
	if why := t.waitsForGitHub(r.id); why != "" {
		if err := t.explain(ctx, r, why); err != nil {
			return res, err
		}
	}
	renewed, err := t.renew(ctx, rest, end)
	if err != nil {
		return res, err
	}
	filled, err := t.fill(ctx, r, seats)
	return earliest(earliest(res, renewed), filled), err
}

// explain says once why a seat of a request that is Ready stays empty: its workflow goes on meanwhile, and nobody
// else would tell.
func (t *term) explain(ctx context.Context, r run, why string) error {
	if r.status.Message != "" {
		return nil
	}
	t.log.Warn("seat stays empty", logkey.RequestID, r.id, logkey.Detail, why)
	st := *r.status
	st.Counts, st.Message = t.counts(r), why
	return t.putStatus(ctx, st, statemachine.Observe, t.clock.Now())
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
func (t *term) seatBusy(ctx context.Context, rest []snapshot, limit time.Duration) ([]snapshot, error) {
	now := t.clock.Now()
	var others []snapshot
	for _, s := range rest {
		if !s.busy() || !s.ready(now) {
			others = append(others, s)
			continue
		}
		_, err := t.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.HandedOver, Now: now, Limit: limit}, cur.Assignment == s.Assignment && cur.ready(now)
		})
		if ignoreStale(err) != nil {
			return rest, fmt.Errorf("hand over %s: %w", s.ID, err)
		}
	}
	return others, nil
}

// seatsOf describes the instances a request was given. The time of a seat given before is kept.
func (t *term) seatsOf(r run, given []snapshot) []store.Seat {
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
				Warm:    s.Assignment > 1, // it served another run before
				Seconds: s.Since.Sub(r.status.PendingAt.Time).Seconds(),
			}
		}
		out = append(out, seat)
	}
	return out
}

// counts tells how far a request is.
func (t *term) counts(r run) store.Counts {
	now := t.clock.Now()
	c := store.Counts{Wanted: r.request.Count}
	t.view.eachHeld(r.id, func(in *instance) {
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
	c.Launching, c.Launched = t.view.launchedFor(r.id, r.status.Attempt)
	c.Launching += t.batch.pending(r.id)
	return c
}

// progressEvery bounds how often progress is written: it is for people, and each write costs.
const progressEvery = time.Second

// progress writes the counts of a request that takes longer than a warm start, and what keeps its runners from GitHub.
func (t *term) progress(ctx context.Context, id store.RequestID) error {
	r, ok := t.view.getRun(id)
	if !ok || r.status.Phase != statemachine.Pending {
		return nil
	}
	now := t.clock.Now()
	st := *r.status
	st.Counts = t.counts(r)
	last := r.noted
	if last.Before(st.PendingAt.Time) {
		last = st.PendingAt.Time
	}
	if why := t.waitsForGitHub(id); (why == "") != (st.Message == "") { // one of its reasons is enough
		st.Message = why
	} else if st.Counts == r.status.Counts {
		return nil
	}
	if wait := last.Add(progressEvery).Sub(now); wait > 0 {
		t.requests.queue.AddAfter(r.id, wait)
		return nil
	}
	t.view.withRun(r.id, func(r *run) { r.noted = now })
	return t.putStatus(ctx, st, statemachine.Observe, now)
}

// maxRuntime is the time from Ready to the end of the run.
func (c Config) maxRuntime(r store.RunRequest) time.Duration {
	if d := r.MaxRuntime.Duration(); d > 0 {
		return d
	}
	return c.DefaultMaxRuntime
}
