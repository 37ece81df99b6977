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

// requests brings requests from their record to an answer, and back.
type requests struct {
	*tenure
	cache      *cache
	badRecords *badRecords
	statuses   *statuses
	seats      *seats
	filler     *filler
	releases   *releases
}

// requestWorkers bounds the requests looked at in parallel.
const requestWorkers = 32

// recordLife is how long the records of a request that is over are kept.
const recordLife = 24 * time.Hour

// reconcileRequest brings one request to where its records and instances say it should be.
func (c *requests) reconcileRequest(ctx context.Context, id store.RequestID) (Result, error) {
	if class, floor := id.Floor(); floor {
		c.queues.floors.Add(class) // whatever a client has written under its id
		return Result{}, nil
	}
	r, err := c.readRun(ctx, id)
	if err != nil {
		return Result{}, err
	}
	held := c.cache.instances.heldBy(id)
	if r.request == nil && r.bad != nil {
		return c.unreadable(ctx, r, held)
	}
	if r.request == nil {
		return c.abandoned(ctx, r, held)
	}
	if r.status == nil || r.status.Attempt < r.request.Attempt || r.takenOver() {
		return Result{}.sooner(time.Millisecond), c.accept(ctx, r, len(held) == 0)
	}
	var older, own []snapshot
	for _, s := range held {
		if s.Attempt < r.status.Attempt {
			older = append(older, s)
		} else {
			own = append(own, s)
		}
	}
	// What an older attempt holds goes back first: its instances carry the same label.
	// Whatever keeps it from going back, GitHub being down say, keeps no answer from being given.
	res, oldErr := c.releases.release(ctx, older, r.request.Release, overFor(*r.request))
	if r.request.Released() {
		c.cache.capacity.unwait(r.id) // whatever keeps its machines from going back, it reserves none
		back, err := c.releases.windDown(ctx, r, own, r.request.Release)
		if err := errors.Join(oldErr, err); err != nil {
			return back, err
		}
		return c.statuses.finishRequest(ctx, r, len(held), ReasonReleased, earliest(res, back))
	}
	// So does what was on its way back when its request came to need it again.
	back, backErr := Result{}, error(nil)
	if lost := unreachable(own); len(lost) > 0 {
		back, backErr = c.releases.release(ctx, lost, store.ReleaseDrain, surplusSeat)
		own = c.cache.instances.heldFor(id, r.status.Attempt)
	}
	next, err := c.phase(ctx, r, own, len(older) > 0)
	return earliest(earliest(res, back), next), errors.Join(oldErr, backErr, err)
}

// phase does what the request's phase asks for.
func (c *requests) phase(ctx context.Context, r run, own []snapshot, blocked bool) (Result, error) {
	switch r.status.Phase {
	case statemachine.Pending:
		return c.reconcilePending(ctx, r, own, blocked)
	case statemachine.Ready:
		return c.reconcileReady(ctx, r, own)
	case statemachine.Failed, statemachine.PhaseReleased:
		back, err := c.releases.windDown(ctx, r, own, store.ReleaseDrain)
		if err != nil || len(own) > 0 || blocked {
			return back, err // what an older attempt holds is found by these records
		}
		return c.statuses.expireRequest(ctx, r)
	case statemachine.Unseen:
	}
	return Result{}, fmt.Errorf("request %s: phase %q: %w", r.status.ID, r.status.Phase, store.ErrInvalid)
}

// readRun returns what is known of a request, read anew if something says that it changed. The client's sign of life
// is looked for by pollClients.
func (c *requests) readRun(ctx context.Context, id store.RequestID) (run, error) {
	r, known := c.cache.requests.takeRun(id)
	if known && !r.changed {
		return r, nil
	}
	rec, err := c.cache.store.Run(ctx, store.Consistent, id)
	if err != nil {
		if !errors.Is(err, store.ErrInvalid) { // which another read does not repair: the next notification or scan comes back to it
			c.cache.requests.changed(id, c.clock.Now())
		}
		return run{}, fmt.Errorf("request %s: %w", id, err)
	}
	now := c.clock.Now()
	if rec.Bad != nil {
		c.badRecords.badRecord(store.RequestKey(id, store.KindRunRequest), rec.Bad.Err)
	}
	c.cache.requests.applyRun(id, rec, now)
	c.cache.requests.withRun(id, func(r *run) {
		if rec.Request == nil { // otherwise applyRun has set it
			r.bad = rec.Bad
		}
	})
	c.cache.requests.noteClient(id, rec.Client, now)
	r, _ = c.cache.requests.getRun(id) // the mark was cleared before the read: a notification that came meanwhile set it again
	return r, nil
}

// abandoned gives back what a request holds whose record is gone.
func (c *requests) abandoned(ctx context.Context, r run, held []snapshot) (Result, error) {
	if r.status == nil && len(held) == 0 {
		c.cache.requests.forgetRun(r.id) // a notification of what is not there leaves nothing behind
		return Result{}, nil
	}
	back, err := c.releases.release(ctx, held, store.ReleaseDrain, requestOver)
	if err != nil || len(held) > 0 || r.status == nil {
		return back, err
	}
	if r.status.Phase != statemachine.PhaseReleased {
		return c.statuses.finishRequest(ctx, r, 0, ReasonReleased, back)
	}
	return c.statuses.expireRequest(ctx, r)
}

// accept takes up an attempt and stamps its deadline. If nothing stands in the way, what the pool
// has for it is claimed meanwhile: a warm start waits for one write less. Should the status not be
// written, the claims are the request's all the same, and the next look counts them.
func (c *requests) accept(ctx context.Context, r run, free bool) error {
	c.cache.capacity.unwait(r.id) // an older attempt may have waited, for something else
	now := c.clock.Now()
	c.cache.requests.replace(r, now)
	st := store.RunStatus{
		ID: r.id, Attempt: r.request.Attempt, Deadline: store.At(now.Add(r.request.Timeout.Duration())),
		Counts: store.Counts{Wanted: r.request.Count}, OriginalCount: r.request.OriginalCount,
		Reason: ReasonLooking, Message: lookingInWords, ReasonSince: store.At(now),
	}
	if st.Watch = c.cache.watchOf(*r.request); st.Watch.State == "" {
		c.queues.runs.Add(r.workflow().Repository)
	}
	if r.status != nil {
		st.Version = r.status.Version
		if was := r.status.Watch; was.Rerun != "" { // once per run
			st.Watch.Rerun, st.Watch.RerunAttempt, st.Watch.Detail = was.Rerun, was.RerunAttempt, was.Detail
		}
		c.cache.index.forgetLooks(r)
	}
	c.cache.requests.withRun(r.id, func(r *run) {
		r.client.changed, r.client.reads, r.lastProblem, r.launching.never, r.launching.full, r.launching.possible = now, 0, "", "", false, false
		r.launching.refusals, r.launching.ended, r.launching.retry, r.launching.spared, r.launching.passed, r.noted = 0, 0, time.Time{}, 0, false, nil
	})
	var g errgroup.Group
	g.Go(func() error { return c.statuses.putStatus(ctx, st, statemachine.Accept, now) })
	if free && !r.request.Released() && c.specError(*r.request) == nil {
		early := st
		early.PendingAt = store.At(now)
		r.status = &early
		g.Go(func() error { return c.filler.claimEarly(ctx, r) })
	}
	err := g.Wait()
	if !free {
		for _, s := range c.cache.instances.heldBy(r.id) { // claimed before a crash took the status: they get their registration now
			c.queues.instances.Add(s.ID)
		}
	}
	return err
}

// takenOver reports whether a client has taken over what the controller had asked for: it is answered anew, with what is held. One
// that gives it back has not, though the mark goes with its write where its role may not keep it.
func (r run) takenOver() bool {
	return r.status.Attempt == r.request.Attempt && r.status.OriginalCount > 0 && !r.request.ByController() && !r.request.Released()
}

// vanished reports whether the waiting client has gone: no change over two successful reads for
// ClientSilence, on our clock, in which the store took writes (writable: since when).
func (r run) vanished(now, writable time.Time, silence time.Duration) bool {
	return (r.request == nil || !r.request.NoWait) && r.client.reads >= 2 && now.Sub(later(r.client.changed, writable)) >= silence
}

// earliest merges two wake-ups.
func earliest(a, b Result) Result {
	if b.After == 0 {
		return a
	}
	return a.sooner(b.After)
}

// attemptKey names an attempt to the pickup.
func attemptKey(r run) string {
	if r.status == nil {
		return string(r.id)
	}
	return fmt.Sprintf("%s/%d", r.id, r.status.Attempt)
}

// specError says what makes a request impossible to serve. Clients check the same before they
// write; the controller trusts no client.
func (c *requests) specError(r store.RunRequest) error {
	var errs []error
	if r.Count < 1 || r.Count > c.cfg.MaxCount {
		errs = append(errs, fmt.Errorf("count: must be 1 to %d, got %d", c.cfg.MaxCount, r.Count))
	}
	if most, setting := c.cfg.mostInstances(r.ResourceClass); r.Count > most {
		errs = append(errs, fmt.Errorf("count: must be at most %d, which %s allows to live at once, got %d", most, setting, r.Count))
	}
	if err := r.Check(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	if d := r.MaxRuntime.Duration(); d < 0 || d > c.cfg.MaxRuntime {
		errs = append(errs, fmt.Errorf("maxRuntime: must be 0 (the default) to %s, got %s", c.cfg.MaxRuntime, d))
	}
	if d := r.Timeout.Duration(); d <= 0 || d > c.cfg.MaxRuntime {
		errs = append(errs, fmt.Errorf("timeout: must be greater than 0, at most %s, got %s", c.cfg.MaxRuntime, d))
	}
	if _, err := c.cfg.query(r); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
