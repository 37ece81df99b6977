package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// fill seeks instances for the empty seats of a request: first from the pool, then by a launch of
// exactly what is missing (S69).
func (t *term) fill(ctx context.Context, r run, seats []snapshot) (Result, error) {
	q, err := t.cfg.query(*r.request)
	if err != nil {
		return Result{}, fmt.Errorf("request %s: %w: %v", r.id, store.ErrInvalid, err) //nolint:errorlint // text for people
	}
	defer t.room() // for those behind it, of what it wants no longer
	missing := r.request.Count - len(seats) - t.coming(r)
	me := waiter{id: r.id, since: r.status.PendingAt.Time, query: q, holds: len(seats) > 0}
	if missing <= 0 {
		t.waiting.set(me, t.requests.add)
		t.batch.leave(r.id)
		return Result{}, nil
	}
	me.short = missing
	t.waiting.set(me, t.requests.add) // younger ones leave it what it needs
	t.batch.leave(r.id)               // nothing is launched for what it claims now
	claimed, err := t.claim(ctx, r, q, missing, reserve(t.waiting.ahead(me, false)))
	if err != nil {
		return Result{}, err
	}
	if claimed > 0 {
		t.requests.add(r.id) // count again: the view has them now
	}
	// Claiming took its time: count anew what is held and being launched by now.
	seats = t.view.heldFor(r.id, r.status.Attempt)
	me.short, me.tried, me.holds = max(0, r.request.Count-len(seats)-t.coming(r)), true, len(seats) > 0
	t.waiting.set(me, t.requests.add)
	if me.short == 0 {
		return Result{}, nil
	}
	return t.order(ctx, r, me, seats)
}

// room lets those look again for which the caps may have room by now, if they waited for that. It is called whenever
// there may be more of it.
func (t *term) room() {
	for _, class := range t.waiting.classes() {
		wanted, wantedOfClass := t.batch.total(class)
		t.waiting.room(class, t.allowedBeside(class, wanted, wantedOfClass), t.requests.add)
	}
}

// claimable counts the machines, at most n, that are there for a request which waits for a launch: they were pooled after
// it had looked, and its next look is late.
func (t *term) claimable(r run, w want, n int) int {
	if n <= 0 || t.pickup.Count(w.query) == 0 {
		return 0
	}
	older := t.waiting.ahead(waiter{id: w.id, since: w.since, query: w.query}, false)
	return t.pickup.Takeable(w.query, who(r), n, reserve(older))
}

// possible asks the fleet once per attempt whether any type can ever match, before room below the caps is
// waited for: an answer that room changes nothing about is due at once. Where there is room the launch
// brings that answer, and whatever else the fleet says.
func (t *term) possible(ctx context.Context, r run, me waiter) bool {
	if r.possible || r.status.Phase != statemachine.Pending {
		return true
	}
	_, _, err := t.plan(ctx, []want{{id: r.id, count: me.short, query: me.query}})
	impossible := errors.Is(err, fleet.ErrUnsatisfiable) && !errors.Is(err, fleet.ErrNoCapacity)
	t.view.withRun(r.id, func(r *run) {
		if impossible {
			r.refuse(err, t.clock.Now())
		}
		r.possible = err == nil || errors.Is(err, fleet.ErrNoCapacity)
	})
	return !impossible
}

// coming counts the machines being launched for a request, those of which the record is under way included.
func (t *term) coming(r run) int {
	writing := t.batch.writing(r.id, r.status.Attempt) // first: once written, they are among the open
	open, _ := t.view.launchedFor(r.id, r.status.Attempt)
	return writing + open
}

// claim takes up to n candidates in parallel, each for itself: a slow or lost one holds up nobody.
// A lost race means the next candidate; none means exhausted.
func (t *term) claim(ctx context.Context, r run, q pool.Query, n int, veto func(pool.Ticket) bool) (int, error) {
	var mu sync.Mutex
	claimed := 0
	var workers errgroup.Group
	for range min(n, fanOut) {
		workers.Go(func() error {
			for {
				mu.Lock()
				if claimed >= n {
					mu.Unlock()
					return nil
				}
				claimed++ // this worker's, unless the pool is exhausted
				mu.Unlock()
				won, err := t.claimOne(ctx, r, q, veto)
				if !won {
					mu.Lock()
					claimed--
					mu.Unlock()
					return err
				}
			}
		})
	}
	err := workers.Wait()
	return claimed, err
}

// claimOne claims the first candidate that can be had.
func (t *term) claimOne(ctx context.Context, r run, q pool.Query, veto func(pool.Ticket) bool) (bool, error) {
	for {
		ticket, ok := t.pickup.Take(q, who(r), veto)
		if !ok {
			return false, nil
		}
		t.waiting.took(r.id, t.requests.add)
		id := store.InstanceID(ticket.InstanceID)
		err := t.claimThis(ctx, r, id)
		if err == nil {
			return true, nil
		}
		t.waiting.missed(r.id, t.requests.add)
		t.changed(id) // drops it, or refreshes it, as its record says
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExpired) || errors.Is(err, statemachine.ErrNoRule) ||
			errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
			t.pickup.Return(ticket.InstanceID)
			t.instances.add(id)
			t.offer(ticket) // it was hidden from others meanwhile
			t.log.Debug("claim lost", logkey.InstanceID, id, logkey.RequestID, r.id, logkey.Error, err)
			continue
		}
		t.pickup.Untake(ticket.InstanceID, who(r))        // says nothing of the candidate: it is not passed over for it (H12)
		t.waiting.wake(ticket, func(id store.RequestID) { // it was hidden from others meanwhile
			if id != r.id { // this one comes back after its pause
				t.requests.add(id)
			}
		})
		return false, fmt.Errorf("claim %s: %w", id, err)
	}
}

// claimThis makes the conditional write, and meanwhile the registration that the claim needs.
func (t *term) claimThis(ctx context.Context, r run, id store.InstanceID) error {
	s, ok := t.view.get(id)
	if !ok {
		return store.ErrConflict
	}
	if !t.trusted() {
		return fmt.Errorf("claim %s: %w", id, store.ErrNotLeader) // a registration would be made for nothing
	}
	minting := t.beginMint(id)
	var reg store.Registration
	var mintErr error
	var mint errgroup.Group
	if minting {
		mint.Go(func() error {
			reg, mintErr = t.mint(ctx, s, r.id)
			return nil
		})
	}
	out, err := t.transition(ctx, id, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{
			Event: statemachine.Claim, Now: t.clock.Now(), Limit: t.cfg.Limits.Claimed, RunID: r.id, Attempt: r.status.Attempt,
		}, cur.State == statemachine.Idle && !cur.PooledAt.IsZero()
	})
	if waited := mint.Wait(); waited != nil {
		return waited
	}
	if minting {
		defer t.endMint(id, mintErr != nil)
	}
	switch {
	case err != nil && minting && mintErr == nil:
		t.discard(ctx, reg)
		return err
	case err != nil || !minting:
		return err
	case mintErr != nil:
		t.view.withRun(r.id, func(r *run) { r.problem = mintErr.Error() })
		_, wait := actionFor(mintErr)
		t.instances.queue.AddAfter(id, max(wait, backoffFirst))
		return nil // claimed all the same: its own key goes on asking GitHub
	}
	if err := t.deliver(ctx, id, r.id, out.Assignment, reg); err != nil {
		t.log.Warn("deliver registration", logkey.InstanceID, id, logkey.Error, err) // its own key delivers it
		t.instances.add(id)
	}
	return nil
}

// order asks for a launch of what is missing, as far as budget and caps allow. If capacity is short
// and an older request of the class waits too, it gives back what that one can use instead. What the caps
// keep from it, it waits for (room).
func (t *term) order(ctx context.Context, r run, me waiter, seats []snapshot) (Result, error) {
	cramped := false
	defer func() { t.waiting.cramp(r.id, cramped) }()
	now := t.clock.Now()
	open, launched := t.view.launchedFor(r.id, r.status.Attempt)
	budget := LaunchBudget(r.request.Count) + r.spared - launched - open
	if budget <= 0 && open == 0 && len(seats) < r.request.Count {
		why := fmt.Sprintf("%d instances were launched for %d seats; last problem: %s", launched, r.request.Count, r.problem)
		if r.status.Phase == statemachine.Pending {
			return t.failRequest(ctx, r, ReasonBudget, why)
		}
		if err := t.explain(ctx, r, why); err != nil {
			return Result{}, err
		}
	}
	left := t.left(r.id, me.query.ResourceClass)
	if left < me.short && !t.possible(ctx, r, me) {
		t.requests.add(r.id) // to be answered
		return Result{}, nil
	}
	refused := now.Before(r.retry)
	if ahead := t.waiting.ahead(me, true); len(ahead) > 0 && (refused || left < me.short) {
		cramped = left < me.short
		back, err := t.yieldTo(ctx, seats, ahead)
		if refused {
			back = earliest(wakeAt(r.retry, now), back)
		}
		return back, err
	}
	coming, until := t.arriving(me)
	n := max(0, min(budget, left, me.short-coming))
	switch {
	case coming >= me.short:
		return wakeAt(until, now), nil // being pooled wakes it sooner
	case refused:
		return wakeAt(r.retry, now), nil
	case budget <= 0:
		return Result{}, nil // the fate of those launched decides, and wakes it
	case n == 0:
		cramped = true
		t.view.withRun(r.id, func(r *run) {
			r.problem = fmt.Sprintf("a cap on instances is reached: %d in all, %d of class %s (0: none of its own)",
				t.cfg.MaxInstances, t.cfg.MaxInstancesPerClass[me.query.ResourceClass], me.query.ResourceClass)
		})
		return Result{After: t.cfg.WarmPoll}, nil // whoever becomes idle, or ends, wakes it sooner
	}
	k := t.batch.set(want{id: r.id, attempt: r.status.Attempt, count: n, since: me.since, query: me.query})
	t.batch.join(k, now)
	t.launches.queue.AddAfter(k, t.cfg.Batch)
	return Result{}, nil // the outcome wakes it
}

// arriving counts the instances in the release handshake that me can use and no older request needs, no further than it
// is short of, and says until when to wait for them. The handshake of a healthy machine is quicker than any
// launch; one that takes longer than a claim may take is not waited for.
func (t *term) arriving(me waiter) (int, time.Time) {
	now := t.clock.Now()
	taken := reserve(t.waiting.ahead(me, false))
	n, until := 0, time.Time{}
	t.view.eachReturning(func(in *instance) bool {
		ticket := ticketOf(in.record)
		if !in.vitals.fresh || !me.query.Matches(ticket) || t.unwantedNow(in.record, in.vitals, now) {
			return true
		}
		due := in.snapshot().gateFrom().Add(t.cfg.Limits.ClaimGate)
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

// left returns how many more instances the caps allow, not counting what id itself has asked for.
func (t *term) left(id store.RequestID, class string) int {
	wanted, wantedOfClass := t.batch.total(class)
	own := t.batch.pending(id)
	return t.allowedBeside(class, wanted-own, wantedOfClass-own)
}

// allowed returns how many more instances the caps allow beside those that live or are being launched.
func (t *term) allowed(class string) int { return t.allowedBeside(class, 0, 0) }

// allowedBeside is allowed with so many more that others asked for, in all and of the class.
func (t *term) allowedBeside(class string, more, moreOfClass int) int {
	total, ofClass := t.view.live(class)
	total, ofClass = total+more, ofClass+moreOfClass
	for _, l := range append(t.batch.underWay(), t.view.openLaunches()...) {
		total += l.Count
		if l.ResourceClass == class {
			ofClass += l.Count
		}
	}
	left := t.cfg.MaxInstances - total
	if limit, ok := t.cfg.MaxInstancesPerClass[class]; ok {
		left = min(left, limit-ofClass)
	}
	return left
}

// yieldTo gives back what older requests that wait can use. What still boots goes back once it is
// ready: an older request can do nothing with it before.
func (t *term) yieldTo(ctx context.Context, seats []snapshot, ahead []demand) (Result, error) {
	wanted := reserve(ahead)
	var usable []snapshot
	for _, s := range seats {
		if s.State != statemachine.Running && wanted(ticketOf(s.Instance)) {
			usable = append(usable, s)
		}
	}
	return t.giveBack(ctx, usable, store.Drain, surplus)
}
