package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instanceWorkers bounds the instances looked at in parallel: each look is at most a few writes.
const instanceWorkers = 32

// reconcileInstance brings one instance to where its facts say it should be.
func (t *term) reconcileInstance(ctx context.Context, id store.InstanceID) (Result, error) {
	s, ok := t.view.get(id)
	if !ok || !s.troubled() {
		t.calm(id)
	}
	if !ok {
		return Result{}, nil
	}
	if s.State == statemachine.Terminated {
		return t.bury(ctx, s)
	}
	if !s.unwritten.IsZero() {
		return t.recheck(ctx, s)
	}
	if s.unheard {
		if err := t.hear(ctx, []store.InstanceID{id}); err != nil {
			return Result{}, err
		}
		s, _ = t.view.get(id)
	}
	t.changed(id)
	dismiss, wait, dismissErr := t.dismissable(ctx, s) // an order that cannot be carried out stops nothing else
	now := t.clock.Now()
	d := t.decide(s, dismiss, now)
	if late := d.Reason == statemachine.ReasonGate && s.waitsForListener(); s.State.Owned() && (late || s.refusal() != "") {
		t.fails(s, s.refusal(), now)
		s, _ = t.view.get(id)
	}
	if s.report() == statemachine.Blocked {
		t.requests.add(s.RunID) // whose answer says so
	}
	res := Result{}
	var err error
	switch {
	case s.keptOut():
		if d = t.decide(s, dismiss, now); d.Event != "" {
			break // its time is up, or it is gone: GitHub, which may not answer either, has no say in that
		}
		var done bool
		if res, done, err = t.kept(ctx, s, now); done || err != nil {
			return res, err
		}
		s, _ = t.view.get(id) // perhaps it is given up
		if s.trouble.own {
			if err := t.hear(ctx, []store.InstanceID{id}); err != nil { // asking GitHub took its time
				return Result{}, err
			}
			s, _ = t.view.get(id)
			now = t.clock.Now()
		}
		d = t.decide(s, dismiss, now)
	case s.report() == statemachine.Online:
		if res, err = t.serves(ctx, s, now); err != nil {
			return res, err
		}
		s, _ = t.view.get(id)
	}
	if d.Read {
		t.view.with(id, func(in *instance) { in.unheard = true })
		return Result{}.sooner(time.Millisecond), nil
	}
	if d.Event == "" && s.otherKey() {
		d = statemachine.Decision{Event: statemachine.Rejected, Reason: reasonKey}
	}
	if d.Event != "" {
		return Result{}.sooner(time.Millisecond), t.happen(ctx, s, d)
	}
	if err := t.provide(ctx, s); err != nil {
		return Result{}, err
	}
	if s.unannounced() {
		t.announcer.add(s.ID)
	}
	if dismissErr != nil {
		return Result{}, dismissErr
	}
	if s.ready(now) {
		t.requests.add(s.RunID)
	}
	res = earliest(res, wakeAt(d.Wake, now))
	if s.used() {
		res = res.sooner(t.cfg.HotPoll) // to see whether it was handed over
	}
	if wait > 0 {
		res = res.sooner(wait)
	}
	return res, nil
}

// decide says what is due for an instance.
func (t *term) decide(s snapshot, dismiss bool, now time.Time) statemachine.Decision {
	return statemachine.Decide(s.facts(t.cfg.Limits, t.writable(), t.braked(), dismiss, t.leaving(s)), now)
}

// leaving reports whether an owned instance is on its way back to the pool: its run is over, or its
// runner was deleted at GitHub.
func (t *term) leaving(s snapshot) bool {
	return s.State.Owned() && (!t.view.alive(s.RunID, s.Attempt) || s.unregistered())
}

// badRecord isolates a record that cannot be read: it is reported and skipped (H70).
func (t *term) badRecord(k store.Key, err error) {
	if p, ok := k.Principal(); ok && k.Sort == store.KindInstance && errors.Is(err, store.ErrExpiry) {
		if id, known := t.view.id(p); known {
			t.view.with(id, func(in *instance) {
				if in.unwritten.IsZero() {
					in.unwritten = t.clock.Now()
				}
			})
			t.changed(id)
			t.instances.add(id)
		}
	}
	if id, due := t.view.unanswered(k); due && t.view.rung(id, t.clock.Now()) {
		t.requests.add(id)
	}
	cause := k.Sort
	if !store.KnownKind(cause) {
		cause = "" // anybody may make up kinds: they are one cause
	}
	t.damped.Error("bad record", cause, k.Partition+" "+k.Sort, err)
}

// happen writes the event that is due, if its facts still hold, and wakes who waits for it.
func (t *term) happen(ctx context.Context, s snapshot, d statemachine.Decision) error {
	now := t.clock.Now()
	out, err := t.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{
			Event: d.Event, Now: now, Limit: t.cfg.Limits.Idle,
			Reason: d.Reason, Detail: cur.vitals.signal.Value.Detail,
		}, cur.Version == s.Version
	})
	if err != nil {
		return fmt.Errorf("instance %s: %w", s.ID, err)
	}
	if s.RunID != "" {
		t.note(s.RunID, s, d)
		t.requests.add(s.RunID)
	}
	if out.State == statemachine.Idle {
		t.offer(ticketOf(out.Instance)) // it may wait for this one rather than launch another
	}
	return nil
}

// note keeps why a seat was lost, for the message of its request.
func (t *term) note(id store.RequestID, s snapshot, d statemachine.Decision) {
	problem := fmt.Sprintf("instance %s: %s", s.ID, d.Reason)
	if v := s.vitals.signal.Value; v.RunID == id && v.Detail != "" {
		problem += ": " + v.Detail
	}
	t.view.withRun(id, func(r *run) { r.problem = problem })
}

// announcers is how many messages are sent at once: what one call of a queue takes. They have workers
// of their own, so that a queue that does not answer keeps no instance waiting.
const announcers = 10

// announce sends the message of a pooled instance, once per process: a message lost with a crash is
// sent again by the next leader, which knows of none.
func (t *term) announce(ctx context.Context, id store.InstanceID) (Result, error) {
	s, known := t.view.get(id)
	if !known || !s.unannounced() {
		return Result{}, nil
	}
	if err := t.pickup.Offer(ctx, ticketOf(s.Instance)); err != nil {
		return Result{}, fmt.Errorf("offer %s: %w", id, err)
	}
	t.view.with(id, func(in *instance) { in.announced = !in.record.PooledAt.IsZero() })
	return Result{}, nil
}

// unannounced reports whether a pooled instance has no message.
func (s snapshot) unannounced() bool {
	return !s.announced && s.State == statemachine.Idle && !s.PooledAt.IsZero()
}

// dismissable reports whether the instance should go and may go now. An owned one is asked for only
// by an operator's order and waits for its job: GitHub has the last word on that, because it hands
// out the jobs.
func (t *term) dismissable(ctx context.Context, s snapshot) (bool, time.Duration, error) {
	now := t.clock.Now()
	if s.State == statemachine.Idle {
		return t.unwanted(s, now) && !s.busy(), 0, nil
	}
	if !t.view.dismissedBy(s.Instance, now) {
		return false, 0, nil
	}
	if s.unsettled(now) {
		return false, t.cfg.HotPoll, nil
	}
	switch err := t.removeRunner(ctx, s); {
	case errors.Is(err, githubapi.ErrBusy):
		return false, t.cfg.HotPoll, nil
	case err != nil:
		return false, 0, fmt.Errorf("dismiss %s: %w", s.ID, err)
	}
	return true, 0, nil
}

// bury hands a terminated instance to the reaper and removes its runner at GitHub, each by itself:
// GitHub being down keeps no machine alive.
func (t *term) bury(ctx context.Context, s snapshot) (Result, error) {
	if !s.ExpiresAt.IsZero() {
		return Result{}, nil // confirmed gone; a runner that is left is the sweep's
	}
	t.reaper.queue.AddAfter(reapKey, t.cfg.Batch)
	err := t.removeRunner(ctx, s)
	if errors.Is(err, githubapi.ErrBusy) {
		// GitHub has not noticed yet that the machine is gone; once it has, the sweep of runners
		// deletes it too, should we not live to.
		return Result{}.sooner(t.cfg.WarmPoll), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("terminated %s: %w", s.ID, err)
	}
	return Result{}, nil
}
