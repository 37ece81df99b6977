package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// claims takes candidates of the pool for requests.
type claims struct {
	*tenure
	cache    *cache
	runners  *runners
	observer *observer
	pickup   *pool.Pickup
	waiting  *waiting
}

// claim takes up to n candidates in parallel, each for itself: a slow or lost one holds up no other.
// A lost race means the next candidate; none means exhausted.
func (c *claims) claim(ctx context.Context, r run, q pool.Query, n int, veto func(pool.Ticket) bool) (int, error) {
	var mu sync.Mutex
	claimed := 0
	var lost atomic.Int64
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
				won, err := c.claimOne(ctx, r, q, veto, &lost)
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
	if claimed > 0 {
		c.cache.note(r.id, store.CodeClaims, "%d", claimed)
	}
	if n := lost.Load(); n > 0 {
		c.cache.note(r.id, store.CodeLosses, "%d", n)
	}
	return claimed, err
}

// claimOne claims the first available candidate, and counts the candidates that another process claimed first. If the table does not
// confirm a claim, claimOne tries the next candidate.
func (c *claims) claimOne(ctx context.Context, r run, q pool.Query, veto func(pool.Ticket) bool, lost *atomic.Int64) (bool, error) {
	var unconfirmed error
	for {
		ticket, ok := c.pickup.Take(q, attemptKey(r), veto)
		if !ok {
			return false, unconfirmed
		}
		c.waiting.took(r.id)
		id := store.InstanceID(ticket.InstanceID)
		err := c.claimThis(ctx, r, id)
		if err == nil {
			return true, nil
		}
		c.waiting.missed(r.id)
		c.cache.index.changed(id) // drops it, or refreshes it, as its record says
		s, _ := c.cache.instances.get(id)
		if errors.Is(err, store.ErrUnconfirmed) && s.stored.unconfirmed < 2 {
			unconfirmed = fmt.Errorf("claim %s: %w", id, err)
			defer c.pickup.Untake(ticket.InstanceID, attemptKey(r)) // the table may be at fault, so the next attempt tries this candidate once more
			c.cache.index.offer(ticket)
			continue
		}
		if errors.Is(err, store.ErrUnconfirmed) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExpired) || errors.Is(err, statemachine.ErrNoRule) ||
			errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
			lost.Add(1)
			c.pickup.Return(ticket.InstanceID)
			c.queues.instances.Add(id)
			c.cache.index.offer(ticket) // it was hidden from others meanwhile
			c.log.Debug("claim lost", logkey.InstanceID, id, logkey.RequestID, r.id, logkey.Error, err)
			continue
		}
		// The error says nothing of the candidate: it is not passed over for it (H12). It was hidden from others meanwhile;
		// this request comes back after its pause.
		c.pickup.Untake(ticket.InstanceID, attemptKey(r))
		if other, ok := c.waiting.oldest(ticket); ok && other != r.id {
			c.queues.requests.Add(other)
		}
		return false, fmt.Errorf("claim %s: %w", id, err)
	}
}

// claimThis makes the conditional write, and meanwhile the registration that the claim needs.
func (c *claims) claimThis(ctx context.Context, r run, id store.InstanceID) error {
	s, ok := c.cache.instances.get(id)
	if !ok {
		return store.ErrConflict
	}
	if !c.trusted() {
		return fmt.Errorf("claim %s: %w", id, store.ErrNotLeader) // a registration would be made for nothing
	}
	if c.cfg.aheadOn() && awaitsAhead(s) && !listensAhead(s) {
		// Its heartbeat was read up to HotPoll ago; a read is a thousandth of the registration that it may save.
		if err := c.observer.readReports(ctx, []store.InstanceID{id}); err != nil {
			return fmt.Errorf("claim %s: %w", id, err)
		}
		s, _ = c.cache.instances.get(id)
	}
	requesting := c.runners.beginRequest(id)
	if requesting && c.cfg.aheadOn() && listensAhead(s) {
		return c.claimListening(ctx, r, id)
	}
	var reg store.Registration
	var requestErr error
	var request errgroup.Group
	if requesting {
		request.Go(func() error {
			reg, requestErr = c.runners.request(ctx, s, string(r.id))
			return nil
		})
	}
	out, err := c.cache.transition(ctx, id, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{
			Event: statemachine.Claim, Now: c.clock.Now(), RunID: r.id, Attempt: r.status.Attempt,
		}, cur.State == statemachine.Idle && !cur.PooledAt.IsZero()
	})
	if waited := request.Wait(); waited != nil {
		return waited
	}
	if requesting {
		defer c.runners.endRequest(id, requestErr != nil)
	}
	switch {
	case err != nil && requesting && requestErr == nil:
		c.runners.discard(ctx, reg)
		return err
	case err != nil || !requesting:
		return err
	case requestErr != nil:
		c.cache.requests.withRun(r.id, func(r *run) { r.lastProblem = requestErr.Error() })
		c.queues.instances.AddAfter(id, max(ruleFor(requestErr).wait, backoffFirst))
		return nil // claimed all the same: its own key goes on asking GitHub
	}
	if err := c.runners.deliver(ctx, id, r.id, out.Assignment, reg); err != nil {
		c.log.Warn("a registration could not be written to its instance; it is tried again", logkey.InstanceID, id, logkey.Error, err) // its own key delivers it
		c.queues.instances.Add(id)
	}
	return nil
}

// claimListening makes the conditional write for an instance whose listener is online, and has GitHub give that the request's
// label. Its own key goes on where that fails. The caller has begun a request of a registration, so that none is made meanwhile.
func (c *claims) claimListening(ctx context.Context, r run, id store.InstanceID) (err error) {
	var failed error
	defer func() { c.runners.endRequest(id, failed != nil) }()
	out, err := c.cache.transition(ctx, id, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{
			Event: statemachine.Claim, Now: c.clock.Now(), RunID: r.id, Attempt: r.status.Attempt, Ahead: true,
		}, listensAhead(cur) && !cur.PooledAt.IsZero()
	})
	if err != nil {
		return err
	}
	if failed = c.runners.label(ctx, out); failed != nil {
		c.queues.instances.AddAfter(id, max(ruleFor(failed).wait, backoffFirst))
	}
	return nil
}

// notePassed notes in a request's history, once per attempt, which candidates of its class it left alone, and why.
func (c *claims) notePassed(r run, q pool.Query, veto func(pool.Ticket) bool) {
	if r.launching.passed {
		return
	}
	c.cache.requests.withRun(r.id, func(r *run) { r.launching.passed = true })
	p := c.pickup.Passed(q, attemptKey(r), veto)
	var out []string
	for _, one := range []struct {
		n   int
		why string
	}{{p.Usage, "usage class"}, {p.Type, "type"}, {p.Taken, "taken"}, {p.Older, "older request"}} {
		if one.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", one.n, one.why))
		}
	}
	if len(out) > 0 {
		c.cache.note(r.id, store.CodePassed, "%s", strings.Join(out, ", "))
	}
}
