package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instances drives every instance through the state machine.
type instances struct {
	*tenure
	cache     *cache
	fleet     fleet.Fleet
	breaker   *breaker
	observer  *observer
	runners   *runners
	listeners *listeners
	ahead     *ahead
}

// instanceWorkers bounds the instances looked at in parallel: each look is at most a few writes.
const instanceWorkers = 32

// reconcileInstance brings one instance to where its facts say it should be.
func (c *instances) reconcileInstance(ctx context.Context, id store.InstanceID) (Result, error) {
	s, ok := c.cache.instances.get(id)
	if !ok || !s.isOffline() {
		c.listeners.clearOffline(id)
	}
	if !ok {
		c.ahead.leave(id)
		return Result{}, nil
	}
	if s.State == statemachine.Terminated {
		c.ahead.leave(id)
		return c.finalize(ctx, s)
	}
	if !s.stored.missingSince.IsZero() {
		return c.rereadRecord(ctx, s)
	}
	if s.vitals.reportChanged {
		if err := c.observer.readReports(ctx, []store.InstanceID{id}); err != nil {
			return Result{}, err
		}
		s, _ = c.cache.instances.get(id)
	}
	c.cache.index.changed(id)
	dismiss, wait, dismissErr := c.dismissable(ctx, s) // an order that cannot be carried out stops nothing else
	now := c.clock.Now()
	d := c.decide(s, dismiss, now)
	if late := d.Reason == statemachine.ReasonGate && waitsForListener(s); s.State.Owned() && (late || s.refusal() != "") {
		c.listeners.fails(s, s.refusal(), now)
		s, _ = c.cache.instances.get(id)
	}
	if s.report() == statemachine.Blocked || s.report() == statemachine.Online && c.cache.requests.tellsOf(s) {
		c.queues.requests.Add(s.RunID) // whose answer says so, or no longer
	}
	res := Result{}
	var err error
	switch {
	case s.refusedByGitHub():
		if d = c.decide(s, dismiss, now); d.Event != "" {
			break // its time is up, or it is gone: GitHub, which may not answer either, has no say in that
		}
		var done bool
		if res, done, err = c.listeners.reconcileOffline(ctx, s, now); done || err != nil {
			return res, err
		}
		s, _ = c.cache.instances.get(id) // perhaps it is given up
		if s.listener.offline.machineFault {
			if err := c.observer.readReports(ctx, []store.InstanceID{id}); err != nil { // asking GitHub took its time
				return Result{}, err
			}
			s, _ = c.cache.instances.get(id)
			now = c.clock.Now()
		}
		d = c.decide(s, dismiss, now)
	case s.report() == statemachine.Online:
		if res, err = c.listeners.observeOnline(ctx, s, now); err != nil {
			return res, err
		}
		s, _ = c.cache.instances.get(id)
	}
	if d.Read {
		c.cache.instances.with(id, func(in *instance) { in.vitals.reportChanged = true })
		return Result{}.sooner(time.Millisecond), nil
	}
	if d.Reason == statemachine.ReasonUnconfirmed {
		busy := s.serving()
		if !busy {
			have, err := c.runners.find(ctx, s.Registration.Name)
			if err != nil {
				return Result{}, err
			}
			busy = have.Busy
		}
		if busy { // a job waits for its agent, which may be unable to report that; silence bounds it
			d, res = statemachine.Decision{Wake: s.Threshold.Time}, res.sooner(c.cfg.WarmPoll)
		}
	}
	if d.Event == "" && otherKey(s) {
		d = statemachine.Decision{Event: statemachine.Rejected, Reason: reasonKey}
	}
	if d.Event != "" {
		return Result{}.sooner(time.Millisecond), c.apply(ctx, s, d)
	}
	if err := c.provide(ctx, s); err != nil {
		return Result{}, err
	}
	if needsOffer(s) {
		c.queues.offers.Add(s.ID)
	}
	look, err := c.ahead.keep(ctx, s)
	if err != nil {
		return Result{}, err
	}
	res = earliest(earliest(res, look), c.prepare(ctx, s))
	if dismissErr != nil {
		return Result{}, dismissErr
	}
	if _, floor := s.RunID.Floor(); s.ready(now) || floor && s.scriptPassed() {
		c.queues.requests.Add(s.RunID)
	}
	res = earliest(res, wakeAt(d.Wake, now))
	if usedUp(s) {
		res = res.sooner(c.cfg.HotPoll) // to see whether it was handed over
	}
	if wait > 0 {
		res = res.sooner(wait)
	}
	return res, nil
}

// decide says what is due for an instance. dismiss is why it may be dismissed, if it may.
func (c *instances) decide(s snapshot, dismiss dismissal, now time.Time) statemachine.Decision {
	d := statemachine.Decide(factsOf(s, c.cfg.Limits, c.writable(), c.breaker.isOpen(), dismiss.reason != "", c.cache.leaving(s)), now)
	if d.Event == statemachine.Dismissed {
		d.Reason, d.Detail = dismiss.reason, dismiss.why
	}
	return d
}

// apply writes the event that is due, if its facts still hold, and wakes who waits for it.
func (c *instances) apply(ctx context.Context, s snapshot, d statemachine.Decision) error {
	now := c.clock.Now()
	if v := s.vitals.signal.Value; d.Event == statemachine.Rejected && v.RunID == s.RunID && v.Cause == store.CauseHost {
		c.cache.requests.withRun(s.RunID, func(r *run) { r.launching.never, r.lastProblem = ReasonHost, v.Detail }) // before its seat is free
	}
	ended := ""
	if d.Reason == statemachine.ReasonGone && s.machine.reason.Code != "" {
		ended = s.machine.reason.String()
		c.cache.refuseEnded(s.LaunchToken) // before the instance's slot is free
	}
	out, err := c.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
		tr := store.Transition{Event: d.Event, Now: now, Reason: d.Reason, Why: cmp.Or(d.Detail, s.machine.reason.Code), StateReason: ended}
		tr.Detail = cmp.Or(d.Detail, strings.TrimSpace(cur.vitals.signal.Value.Detail+"\n"+ended))
		if d.Event == statemachine.Pooled {
			tr.Limit = cur.Threshold.Sub(cur.Since.Time) // the deadline given when it became idle: one step for a floor's machine
		}
		return tr, cur.Version == s.Version
	})
	if err != nil {
		return fmt.Errorf("instance %s: %w", s.ID, err)
	}
	if s.RunID != "" {
		c.note(s.RunID, s, d)
		c.queues.requests.Add(s.RunID)
	}
	if out.State == statemachine.Idle {
		c.cache.index.offer(ticketOf(out.Instance)) // it may wait for this one rather than launch another
	}
	return nil
}

// note keeps why a seat was lost, for the message of its request.
func (c *instances) note(id store.RequestID, s snapshot, d statemachine.Decision) {
	problem := fmt.Sprintf("instance %s: %s", s.ID, d.Reason)
	if v := s.vitals.signal.Value; v.RunID == id && v.Detail != "" {
		problem += ": " + v.Detail
	}
	why := d.Reason
	if ended := s.machine.reason; d.Reason == statemachine.ReasonGone && ended.Code != "" {
		why = ended.Code // the detail of an entry cannot hold both
		problem += ": " + ended.String()
	}
	c.cache.requests.withRun(id, func(r *run) {
		if r.launching.never != ReasonRefused { // a refusal is the more precise problem
			r.lastProblem = problem
		}
	})
	c.cache.note(id, store.CodeLostSeat, "%s: %s", s.ID, why)
}

// offerWorkers is how many messages are sent at once. They have workers
// of their own, so that a queue that does not answer keeps no instance waiting.
const offerWorkers = 10

// needsOffer reports whether a pooled instance has no message.
func needsOffer(s snapshot) bool {
	return !s.offered && s.State == statemachine.Idle && !s.PooledAt.IsZero()
}

// dismissal is why an instance is dismissed: the constant reason and the detail. Both are empty if the instance stays.
type dismissal struct{ reason, why string }

// whyDrained is the detail of a dismissal by an operator's drain order.
const whyDrained = "drained"

// dismissable returns why the instance must terminate now; the result is empty if it must not. An assigned instance terminates only by an
// operator's order, and waits for its job unless the order forbids it. GitHub assigns the jobs, so only GitHub can confirm that the runner
// is free.
func (c *instances) dismissable(ctx context.Context, s snapshot) (dismissal, time.Duration, error) {
	now := c.clock.Now()
	ordered, atOnce := c.cache.orders.dismissed(s.Instance, now)
	switch {
	case atOnce:
		return dismissal{statemachine.ReasonDismissedAtOnce, whyDrained}, 0, nil
	case s.State == statemachine.Idle && c.cache.index.unwanted(s.Instance, s.vitals, now) && !s.busy():
		return dismissal{statemachine.ReasonDismissed, c.cache.index.whyUnwanted(s.Instance, s.vitals, now)}, 0, nil
	case s.State == statemachine.Idle, !ordered:
		return dismissal{}, 0, nil
	case maybeBusy(s, now):
		return dismissal{}, c.cfg.HotPoll, nil
	}
	switch err := c.runners.removeRunner(ctx, s); {
	case errors.Is(err, githubapi.ErrBusy):
		return dismissal{}, c.cfg.HotPoll, nil
	case err != nil:
		return dismissal{}, 0, fmt.Errorf("dismiss %s: %w", s.ID, err)
	}
	return dismissal{statemachine.ReasonDismissed, whyDrained}, 0, nil
}

// finalize hands a terminated instance to the reaper and removes its runner at GitHub, neither waiting for the other:
// GitHub being down keeps no machine alive.
func (c *instances) finalize(ctx context.Context, s snapshot) (Result, error) {
	if s.Gone() {
		return Result{}, nil // confirmed gone; a runner that is left is the sweep's
	}
	c.queues.reaper.AddAfter(reapKey, c.cfg.Batch)
	err := c.runners.removeRunner(ctx, s)
	if errors.Is(err, githubapi.ErrBusy) {
		// GitHub has not noticed yet that the machine is gone; once it has, the sweep of runners
		// deletes it too, should we not live to.
		return Result{}.sooner(c.cfg.WarmPoll), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("terminated %s: %w", s.ID, err)
	}
	return Result{}, nil
}

// provide gives an owned instance the registration it waits for, and clears a used one.
func (c *instances) provide(ctx context.Context, s snapshot) error {
	if !s.State.Owned() {
		return nil
	}
	r := s.Registration
	switch {
	case r.Assignment != s.Assignment, s.wantsNext():
		if !c.cache.requests.alive(s.RunID, s.Attempt) || c.cache.extra(s) {
			return nil // on its way back: it needs no runner, and must take no job
		}
		if unknownKey(s) {
			return nil // its first heartbeat wakes it
		}
		if r.Assignment == s.Assignment {
			if may, err := c.affords(ctx, s); err != nil || !may {
				return err
			}
		}
		return c.runners.register(ctx, s)
	case s.State == statemachine.Claimed && s.Ahead():
		if !c.cache.requests.alive(s.RunID, s.Attempt) || c.cache.extra(s) {
			return nil // as above
		}
		return c.runners.provideAhead(ctx, s)
	case usedUp(s) && !handedOverSoon(s, c.clock.Now(), c.cfg.HotPoll):
		_, err := c.cache.write(ctx, s.ID, func(cur snapshot) (store.Instance, error) {
			if cur.Registration.Serial != r.Serial {
				return cur.Instance, errStale
			}
			used := cur.Registration
			used.Secret = ""
			return c.cache.store.SetRegistration(ctx, cur.Instance, used, c.clock.Now())
		})
		return ignoreStale(err)
	}
	return nil
}

// rereadRecord looks for a record that was missing, until it is there or its machine is ended.
func (c *instances) rereadRecord(ctx context.Context, s snapshot) (Result, error) {
	in := c.cache.instances.instance(s.ID)
	if in == nil {
		return Result{}, nil
	}
	unlock, err := in.lock(ctx, s.ID)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	err = c.cache.refresh(ctx, s)
	if errors.Is(err, store.ErrNotFound) {
		err = errors.Join(err, c.endUnrecorded(ctx, s.ID))
	}
	return Result{}.sooner(time.Millisecond), err
}

// endUnrecorded ends the machine of an instance whose record stays missing: without one it has no threshold, so it is
// an orphan machine.
func (c *instances) endUnrecorded(ctx context.Context, id store.InstanceID) error {
	s, known := c.cache.instances.get(id)
	if !known || s.stored.missingSince.IsZero() || c.clock.Since(s.stored.missingSince) < c.cfg.Orphan || c.breaker.isOpen() {
		return nil
	}
	c.log.Warn("terminating a machine whose record is missing", logkey.InstanceID, id, logkey.RequestID, s.RunID)
	if err := c.fleet.Terminate(ctx, string(id)); err != nil {
		return fmt.Errorf("instance %s: %w", id, err)
	}
	return nil
}
