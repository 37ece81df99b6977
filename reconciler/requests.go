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

// requestWorkers bounds the requests looked at in parallel.
const requestWorkers = 32

// recordLife is how long the records of a request that is over are kept.
const recordLife = 24 * time.Hour

// reconcileRequest brings one request to where its records and instances say it should be.
func (t *term) reconcileRequest(ctx context.Context, id store.RequestID) (Result, error) {
	t.metrics.look()
	r, err := t.readRun(ctx, id)
	if err != nil {
		return Result{}, err
	}
	held := t.view.heldBy(id)
	if r.request == nil && r.bad != nil {
		return t.unreadable(ctx, r, held)
	}
	if r.request == nil {
		return t.abandoned(ctx, r, held)
	}
	if r.status == nil || r.status.Attempt < r.request.Attempt {
		return Result{}.sooner(time.Millisecond), t.accept(ctx, r, len(held) == 0)
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
	res, oldErr := t.giveBack(ctx, older, r.request.Release, over)
	if r.request.Released() {
		t.unwait(r.id) // whatever keeps its machines from going back, it reserves none
		back, err := t.windDown(ctx, r, own, r.request.Release)
		if err := errors.Join(oldErr, err); err != nil {
			return back, err
		}
		return t.finishRequest(ctx, r, len(held), ReasonReleased, earliest(res, back))
	}
	// So does what was on its way back when its request came to need it again.
	back, backErr := Result{}, error(nil)
	if lost := deaf(own); len(lost) > 0 {
		back, backErr = t.giveBack(ctx, lost, store.Drain, surplus)
		own = t.view.heldFor(id, r.status.Attempt)
	}
	next, err := t.phase(ctx, r, own, len(older) > 0)
	return earliest(earliest(res, back), next), errors.Join(oldErr, backErr, err)
}

// phase does what the request's phase asks for.
func (t *term) phase(ctx context.Context, r run, own []snapshot, blocked bool) (Result, error) {
	switch r.status.Phase {
	case statemachine.Pending:
		return t.pending(ctx, r, own, blocked)
	case statemachine.Ready:
		return t.keep(ctx, r, own)
	case statemachine.Failed, statemachine.ReleasedPhase:
		back, err := t.windDown(ctx, r, own, store.Drain)
		if err != nil || len(own) > 0 || blocked {
			return back, err // what an older attempt holds is found by these records
		}
		return t.expireRequest(ctx, r)
	case statemachine.Unseen:
	}
	return Result{}, fmt.Errorf("request %s: phase %q: %w", r.status.ID, r.status.Phase, store.ErrInvalid)
}

// readRun returns what is known of a request, read anew if something says that it changed. The client's sign of life
// is looked for by pollClients.
func (t *term) readRun(ctx context.Context, id store.RequestID) (run, error) {
	r, known := t.view.takeRun(id)
	if known && !r.unread {
		return r, nil
	}
	rec, err := t.store.Run(ctx, store.Consistent, id)
	if err != nil {
		if !errors.Is(err, store.ErrInvalid) { // which another read does not mend: the next ring or scan comes back to it
			t.view.unread(id, t.clock.Now())
		}
		return run{}, fmt.Errorf("request %s: %w", id, err)
	}
	now := t.clock.Now()
	if rec.Bad != nil {
		t.badRecord(store.RequestKey(id, store.KindRunRequest), rec.Bad.Err)
	}
	t.view.applyRun(id, rec, now)
	t.view.withRun(id, func(r *run) { r.bad = rec.Bad })
	t.view.heardRun(id, rec.Client, now)
	r, _ = t.view.getRun(id) // the mark was cleared before the read: a ring that came meanwhile set it again
	return r, nil
}

// abandoned gives back what a request holds whose record is gone.
func (t *term) abandoned(ctx context.Context, r run, held []snapshot) (Result, error) {
	if r.status == nil && len(held) == 0 {
		t.view.forgetRun(r.id) // a ring for what is not there leaves nothing behind
		return Result{}, nil
	}
	back, err := t.giveBack(ctx, held, store.Drain, over)
	if err != nil || len(held) > 0 || r.status == nil {
		return back, err
	}
	if r.status.Phase != statemachine.ReleasedPhase {
		return t.finishRequest(ctx, r, 0, ReasonReleased, back)
	}
	return t.expireRequest(ctx, r)
}

// accept takes up an attempt and stamps its deadline. If nothing stands in the way, what the pool
// has for it is claimed meanwhile: a warm start waits for one write less. Should the status not be
// written, the claims are the request's all the same, and the next look counts them.
func (t *term) accept(ctx context.Context, r run, free bool) error {
	t.unwait(r.id) // an older attempt may have waited, for something else
	now := t.clock.Now()
	st := store.RunStatus{
		ID: r.id, Attempt: r.request.Attempt, Deadline: store.At(now.Add(r.request.Timeout.Duration())),
		Counts: store.Counts{Wanted: r.request.Count},
	}
	if r.status != nil {
		st.Version = r.status.Version
		t.forgetLooks(r)
	}
	t.view.withRun(r.id, func(r *run) {
		r.heard, r.reads, r.problem, r.hopeless, r.full, r.possible = now, 0, "", false, false, false
		r.refusals, r.retry, r.spared = 0, time.Time{}, 0
	})
	var g errgroup.Group
	g.Go(func() error { return t.putStatus(ctx, st, statemachine.Accept, now) })
	if free && !r.request.Released() && t.specError(*r.request) == nil {
		early := st
		early.PendingAt = store.At(now)
		r.status = &early
		g.Go(func() error { return t.claimEarly(ctx, r) })
	}
	err := g.Wait()
	if !free {
		for _, s := range t.view.heldBy(r.id) { // claimed before a crash took the status: they get their registration now
			t.instances.add(s.ID)
		}
	}
	return err
}

// claimEarly claims what the pool has for a request that is just being taken up.
func (t *term) claimEarly(ctx context.Context, r run) error {
	q, err := t.cfg.query(*r.request)
	if err != nil {
		return nil //nolint:nilerr // it fails for that when it is Pending
	}
	me := waiter{id: r.id, since: r.status.PendingAt.Time, query: q, short: r.request.Count}
	t.waiting.set(me, t.requests.add)
	_, err = t.claim(ctx, r, q, r.request.Count, reserve(t.waiting.ahead(me, false)))
	return err
}

// putStatus writes a status through.
func (t *term) putStatus(ctx context.Context, st store.RunStatus, event statemachine.RequestEvent, now time.Time) error {
	out, err := t.store.PutStatus(ctx, st, event, now)
	if errors.Is(err, store.ErrInvalid) && st.Phase == statemachine.Pending && event != statemachine.Fail {
		return t.refuseStatus(ctx, st, err, now)
	}
	if err != nil {
		t.view.unread(st.ID, now)
		return fmt.Errorf("request %s: %w", st.ID, err)
	}
	t.view.applyRun(st.ID, store.RunRecords{Status: &out}, now)
	if event == statemachine.Observe {
		return nil
	}
	t.metrics.request(event)
	t.log.Info("request", logkey.RequestID, st.ID, logkey.Attempt, st.Attempt, logkey.Event, event,
		logkey.Phase, out.Phase, logkey.Reason, out.Reason, logkey.Detail, out.Message)
	return nil
}

// refuseStatus answers a request whose status no store takes, being too large say: a client that never hears of its
// machines waits for them, and they for it.
func (t *term) refuseStatus(ctx context.Context, st store.RunStatus, cause error, now time.Time) error {
	st.Instances, st.Reason, st.Message = nil, ReasonSpec, "count: the answer cannot be written: "+cause.Error()
	return t.putStatus(ctx, st, statemachine.Fail, now)
}

// finishRequest writes Released once nothing is held and no launch is open, or is just being written.
func (t *term) finishRequest(ctx context.Context, r run, held int, reason string, res Result) (Result, error) {
	t.unwait(r.id)
	writing := t.batch.writing(r.id, 0) // first: once written, they are among the open
	if open, _ := t.view.launchedFor(r.id, 0); held > 0 || open > 0 || writing > 0 {
		return res, nil // each of them wakes this key when it changes
	}
	if r.status.Phase == statemachine.ReleasedPhase {
		return t.expireRequest(ctx, r)
	}
	st := *r.status
	st.Reason = reason
	if reason == ReasonReleased {
		st.Message = ""
	}
	t.forgetLooks(r)
	return Result{}.sooner(time.Millisecond), t.putStatus(ctx, st, statemachine.Finish, t.clock.Now())
}

// expireRequest lets the records of a request that is over go, after a day.
func (t *term) expireRequest(ctx context.Context, r run) (Result, error) {
	t.unwait(r.id)
	t.forgetLooks(r)
	if open, _ := t.view.launchedFor(r.id, 0); open > 0 {
		return Result{}, nil
	}
	now := t.clock.Now()
	at := now.Add(recordLife)
	if r.request != nil && r.request.ExpiresAt.IsZero() {
		out, err := t.store.ExpireRequest(ctx, *r.request, at)
		if err != nil {
			t.view.unread(r.id, now)
			return Result{}, fmt.Errorf("request %s: %w", r.id, err)
		}
		t.view.withRun(r.id, func(r *run) { r.request = &out })
	}
	if !r.status.ExpiresAt.IsZero() {
		return Result{}, nil
	}
	out, err := t.store.ExpireStatus(ctx, *r.status, at, now)
	if err != nil {
		t.view.unread(r.id, now)
		return Result{}, fmt.Errorf("request %s: %w", r.id, err)
	}
	t.view.applyRun(r.id, store.RunRecords{Status: &out}, now)
	return Result{}, nil
}

// failRequest answers a pending request with no.
func (t *term) failRequest(ctx context.Context, r run, reason, message string) (Result, error) {
	t.unwait(r.id)
	st := *r.status
	st.Reason, st.Message = reason, message
	st.Counts = t.counts(r)
	if err := t.putStatus(ctx, st, statemachine.Fail, t.clock.Now()); err != nil {
		return Result{}, err
	}
	return Result{}.sooner(time.Millisecond), nil
}

// unwait takes a request out of the line and out of the coming launch.
func (t *term) unwait(id store.RequestID) {
	t.waiting.leave(id, t.requests.add)
	if t.batch.leave(id) {
		t.room()
	}
}

// vanished reports whether the waiting client has gone: no change over two successful reads for
// ClientSilence, on our clock, in which the store took writes (writable: since when).
func (r run) vanished(now, writable time.Time, silence time.Duration) bool {
	return r.reads >= 2 && now.Sub(later(r.heard, writable)) >= silence
}

// earliest merges two wake-ups.
func earliest(a, b Result) Result {
	if b.After == 0 {
		return a
	}
	return a.sooner(b.After)
}

// who names an attempt to the pickup.
func who(r run) string {
	if r.status == nil {
		return string(r.id)
	}
	return fmt.Sprintf("%s/%d", r.id, r.status.Attempt)
}

// specError says what makes a request impossible to serve. Clients check the same before they
// write; the controller trusts nobody.
func (t *term) specError(r store.RunRequest) error {
	var errs []error
	if r.Count < 1 || r.Count > t.cfg.MaxCount {
		errs = append(errs, fmt.Errorf("count: must be 1 to %d, got %d", t.cfg.MaxCount, r.Count))
	}
	if most, setting := t.cfg.mostInstances(r.ResourceClass); r.Count > most {
		errs = append(errs, fmt.Errorf("count: must be at most %d, which %s allows to live at once, got %d", most, setting, r.Count))
	}
	if err := r.Check(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	if d := r.MaxRuntime.Duration(); d < 0 || d > t.cfg.MaxRuntime {
		errs = append(errs, fmt.Errorf("maxRuntime: must be 0 (the default) to %s, got %s", t.cfg.MaxRuntime, d))
	}
	if d := r.Timeout.Duration(); d <= 0 || d > t.cfg.MaxRuntime {
		errs = append(errs, fmt.Errorf("timeout: must be greater than 0, at most %s, got %s", t.cfg.MaxRuntime, d))
	}
	if _, err := t.cfg.query(r); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
