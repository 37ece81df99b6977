package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// filler fills the empty seats of requests.
type filler struct {
	*tenure
	cache    *cache
	statuses *statuses
	releases *releases
	claims   *claims
	planner  *planner
	batch    *batch
	waiting  *waiting
}

// fill seeks instances for the empty seats of a request: first from the pool, then by a launch of
// exactly what is missing (S69).
func (f *filler) fill(ctx context.Context, r run, seats []snapshot) (Result, error) {
	wanted := f.cache.wanted(r)
	q, err := f.cfg.query(wanted)
	if err != nil {
		return Result{}, fmt.Errorf("request %s: %w: %v", r.id, store.ErrInvalid, err) //nolint:errorlint // text for people
	}
	defer f.cache.capacity.freed() // for those behind it, of what it wants no longer
	missing := f.short(r)
	me := waiter{id: r.id, since: r.status.PendingAt.Time, query: q, holds: len(seats) > 0}
	if missing <= 0 {
		f.waiting.set(me)
		f.batch.leave(r.id)
		return Result{}, nil
	}
	if r.launching.never == ReasonHost {
		return f.unfillable(ctx, r, ReasonHost, r.lastProblem)
	}
	if why := f.cache.budget.forbids(wanted); why != "" {
		f.cache.capacity.unwait(r.id)
		return f.unfillable(ctx, r, ReasonBudget, why)
	}
	me.short = missing
	f.waiting.set(me)   // younger ones leave it what it needs
	f.batch.leave(r.id) // nothing is launched for what it claims now
	claimed, err := f.claims.claim(ctx, r, q, missing, reserve(f.waiting.ahead(me, false)))
	if err != nil {
		return Result{}, err
	}
	if claimed > 0 {
		f.queues.requests.Add(r.id) // count again: the cache has them now
	}
	me.short, me.tried = max(0, f.short(r)), true // claiming took its time
	seats = f.cache.instances.heldFor(r.id, r.status.Attempt)
	me.holds = len(seats) > 0
	f.waiting.set(me)
	if me.short == 0 {
		return Result{}, nil
	}
	f.claims.notePassed(r, q, reserve(f.waiting.ahead(me, false)))
	return f.order(ctx, r, me, seats)
}

// possible asks the fleet once per attempt whether any type can ever match, before room below the caps is
// waited for: an answer that room changes nothing about is due at once. Where there is room the launch
// brings that answer, and whatever else the fleet says.
func (f *filler) possible(ctx context.Context, r run, me waiter) bool {
	if r.launching.possible || r.status.Phase != statemachine.Pending {
		return true
	}
	_, _, err := f.planner.plan(ctx, []want{{id: r.id, count: me.short, query: me.query}})
	impossible := errors.Is(err, fleet.ErrUnsatisfiable) && !errors.Is(err, fleet.ErrNoCapacity)
	f.cache.requests.withRun(r.id, func(r *run) {
		if impossible {
			r.refuse(err, f.clock.Now())
		}
		r.launching.possible = err == nil || errors.Is(err, fleet.ErrNoCapacity)
	})
	return !impossible
}

// short returns how many instances a request needs besides those that it holds, and those being launched for it.
func (f *filler) short(r run) int {
	writing := f.batch.writing(r.id, r.status.Attempt) // first: once written, they are among the open
	return r.request.Count - writing - f.cache.supplied(r.id, r.status.Attempt)
}

// order asks for a launch of what is missing, as far as budget and caps allow. If capacity is short
// and an older request of the class waits too, it gives back what that one can use instead. What the caps
// keep from it, it waits for (room).
func (f *filler) order(ctx context.Context, r run, me waiter, seats []snapshot) (Result, error) {
	capped := false
	defer func() {
		if f.waiting.capReached(r.id, capped); capped {
			f.cache.lookAtFloors() // which may have machines that it cannot use
		}
	}()
	now := f.clock.Now()
	open, launched := f.cache.launchedFor(r.id, r.status.Attempt)
	budget := LaunchBudget(r.request.Count) + r.launching.spared - launched - open
	if budget <= 0 && open == 0 && len(seats) < r.request.Count {
		why := fmt.Sprintf("%d instances were launched for %d seats; last problem: %s", launched, r.request.Count, r.lastProblem)
		if res, err := f.unfillable(ctx, r, ReasonLaunchBudget, why); err != nil || r.status.Phase == statemachine.Pending {
			return res, err
		}
	}
	left := f.cache.capacity.left(r.id, me.query.ResourceClass)
	if left < me.short && !f.possible(ctx, r, me) {
		f.queues.requests.Add(r.id) // to be answered
		return Result{}, nil
	}
	refused := now.Before(r.launching.retry)
	if ahead := f.waiting.ahead(me, true); len(ahead) > 0 && (refused || left < me.short) {
		capped = left < me.short
		back, err := f.yieldTo(ctx, seats, ahead)
		if refused {
			back = earliest(wakeAt(r.launching.retry, now), back)
		}
		return back, err
	}
	coming, until := f.arriving(me)
	n := max(0, min(budget, left, me.short-coming))
	switch {
	case coming >= me.short:
		return wakeAt(until, now), nil // being pooled wakes it sooner
	case refused:
		return wakeAt(r.launching.retry, now), nil
	case budget <= 0:
		return Result{}, nil // the fate of those launched decides, and wakes it
	case n == 0:
		capped = true
		setting, allows := f.cache.capacity.tightest(me.query.ResourceClass)
		f.cache.requests.withRun(r.id, func(r *run) { r.lastProblem = fmt.Sprintf("%s is reached: it allows %d", setting, allows) })
		return Result{After: f.cfg.WarmPoll}, nil // one that becomes idle, or ends, wakes it sooner
	}
	k := f.batch.set(want{id: r.id, attempt: r.status.Attempt, count: n, since: me.since, query: me.query})
	f.batch.join(k, now)
	f.queues.launches.AddAfter(k, f.cfg.Batch)
	return Result{}, nil // the outcome wakes it
}

// unfillable fails a request that waits for seats which nothing will fill; one that was ready keeps the others, and says so.
func (f *filler) unfillable(ctx context.Context, r run, reason, why string) (Result, error) {
	if r.status.Phase == statemachine.Pending {
		return f.statuses.failRequest(ctx, r, reason, why)
	}
	return Result{}, f.statuses.recordEmptySeat(ctx, r, why)
}

// arriving counts the instances in the release handshake that me can use and no older request needs, no further than it
// is short of, and says until when to wait for them. The handshake of a healthy machine is quicker than any
// launch; one that takes longer than a claim may take is not waited for.
func (f *filler) arriving(me waiter) (int, time.Time) {
	now := f.clock.Now()
	taken := reserve(f.waiting.ahead(me, false))
	n, until := 0, time.Time{}
	f.cache.instances.eachReturning(func(in *instance) bool {
		ticket := ticketOf(in.record)
		if !in.vitals.fresh || !me.query.Matches(ticket) || f.cache.index.unwanted(in.record, in.vitals, now) {
			return true
		}
		due := in.snapshot().gateFrom().Add(f.cfg.Limits.ClaimGate)
		if !now.Before(due) || taken != nil && taken(ticket) {
			return true
		}
		n++
		if until.IsZero() || due.Before(until) {
			until = due
		}
		return n < me.short
	})
	return n, until
}

// yieldTo gives back what older requests that wait can use. What still boots goes back once it is
// ready: an older request can do nothing with it before.
func (f *filler) yieldTo(ctx context.Context, seats []snapshot, ahead []demand) (Result, error) {
	wanted := reserve(ahead)
	var usable []snapshot
	for _, s := range seats {
		if s.State != statemachine.Running && wanted(ticketOf(s.Instance)) {
			usable = append(usable, s)
		}
	}
	return f.releases.release(ctx, usable, store.ReleaseDrain, surplusSeat)
}

// claimEarly claims what the pool has for a request that is just being taken up.
func (f *filler) claimEarly(ctx context.Context, r run) error {
	wanted := f.cache.wanted(r)
	q, err := f.cfg.query(wanted)
	if err != nil || f.cache.budget.forbids(wanted) != "" {
		return nil //nolint:nilerr // it fails for that when it is Pending
	}
	me := waiter{id: r.id, since: r.status.PendingAt.Time, query: q, short: r.request.Count}
	f.waiting.set(me)
	_, err = f.claims.claim(ctx, r, q, r.request.Count, reserve(f.waiting.ahead(me, false)))
	return err
}
