package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// requestWait submits one attempt and waits for its answer, unless nobody is to wait for it.
type requestWait struct {
	*app
	store    *store.Store
	want     store.RunRequest
	start    time.Time
	progress *progress

	asked   time.Time        // when the request was stored
	stored  store.RunRequest // as Submit returned it: its attempt may be higher than the one that was wanted
	seen    every
	notify  every
	status  store.RunStatus // the last one of this attempt
	waiting waiting
	trouble error         // why the last call failed, nil if it did not
	borne   denials       // of reads of the status
	audit   audit.Options // says when a lease is dead
	hint    *controllerHint
}

// run returns nil once the attempt is Ready, and status holds the answer; or at once, if nobody waits.
func (w *requestWait) run(ctx context.Context) error {
	if err := settle(ctx, w.clock, w.progress, string(w.want.ID), w.submit); err != nil {
		return err
	}
	w.asked = w.clock.Now()
	if w.want.StoredWithoutRun(w.stored) {
		w.progress.note("request %s is stored without its run: the client that stored it named none, or the policy of this role lacks it; bring that up to date with deploy/iam/workflow.json", w.stored.ID)
	}
	if !w.waits() {
		return nil
	}
	w.hint = newControllerHint(w.store, w.clock, w.audit)
	w.seen, w.notify = every{period: config.SeenEvery}, every{period: notifyEvery, next: w.asked.Add(notifyEvery)}
	return w.explained(ctx, withTrouble(awaitAnswer(ctx, w.clock, w.look), w.trouble))
}

// explained adds to a wait that ended without an answer what it waited for.
func (w *requestWait) explained(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || w.waiting.sentence == "" {
		return err
	}
	return fmt.Errorf("%w (waited last: %s)", err, w.waiting)
}

// waits reports whether this client waits: it is to, or its request is stored as one that somebody waits for, since its
// role may not write otherwise, or another client does.
func (w *requestWait) waits() bool { return !w.want.NoWait || !w.stored.NoWait }

// submit stores the request; repeating it is harmless. An attempt that was released already is a
// conflict: it would never become ready.
func (w *requestWait) submit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	stored, err := w.store.Submit(ctx, w.want)
	w.stored = stored
	if err == nil && stored.Released() {
		return mark(errReleased, fmt.Errorf("request %s attempt %d: was released already; a new one needs a higher --attempt", stored.ID, stored.Attempt))
	}
	return err
}

// look does what is due and reads the status. Failed calls are repeated with the next look: only
// the time limit ends the wait, or a refusal, which only an operator can lift.
func (w *requestWait) look(ctx context.Context) (bool, error) {
	now := w.clock.Now()
	w.trouble = w.renew(ctx, now)
	st, err := w.store.Status(ctx, store.Eventual, w.want.ID)
	switch {
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrRefused):
		if !w.borne.bears(err, now) {
			return false, err
		}
		w.trouble = err
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		w.trouble = err
	case st.Attempt > w.stored.Attempt:
		return false, mark(errReleased, fmt.Errorf("request %s attempt %d: was replaced by attempt %d", st.ID, w.stored.Attempt, st.Attempt))
	case st.Attempt == w.stored.Attempt && st.OriginalCount == 0: // else it answers the controller's own, which was taken over
		w.status = st
		w.waiting.look(st, now)
	}
	if err == nil {
		w.borne = denials{}
	}
	done, err := w.verdict()
	if !done && err == nil {
		w.report(ctx, now)
	}
	return done, err
}

// renew renews the client's sign of life, and notifies while no controller has answered.
func (w *requestWait) renew(ctx context.Context, now time.Time) error {
	var errs []error
	if w.seen.due(now) {
		errs = append(errs, w.store.Seen(ctx, w.want.ID, w.stored.Attempt, now))
	}
	if w.status.Phase == statemachine.Unseen && w.notify.due(now) {
		errs = append(errs, w.store.Notify(ctx, w.want.ID))
	}
	return errors.Join(errs...)
}

// verdict reports whether the status is the answer.
func (w *requestWait) verdict() (bool, error) {
	st := w.status
	switch st.Phase {
	case statemachine.Ready:
		return true, nil
	case statemachine.Failed:
		return false, w.failure()
	case statemachine.PhaseReleased:
		if !st.FailedAt.IsZero() {
			return false, w.failure() // it failed and was wound down between two looks
		}
		why := ""
		if st.Message != "" {
			why = ": " + st.Message
		}
		return false, mark(errReleased, fmt.Errorf("request %s attempt %d: was released meanwhile%s", st.ID, st.Attempt, why))
	case statemachine.Unseen, statemachine.Pending:
	}
	return false, nil
}

// failure is the controller's no, in its own words.
func (w *requestWait) failure() error {
	st, kind := w.status, errFailed
	if st.Reason == reconciler.ReasonTimeout {
		kind = errTimedOut
	}
	return mark(kind, fmt.Errorf("request %s attempt %d failed: %s: %s%s", st.ID, st.Attempt, st.Reason, st.Message, w.waiting.behind(st)))
}

// report shows where things stand.
func (w *requestWait) report(ctx context.Context, now time.Time) {
	w.hint.look(ctx, w.progress, w.status.Phase == statemachine.Unseen, now, w.trouble)
	line, elapsed := progressLine(w.want, w.status, w.trouble), "  "+short(now.Sub(w.start))
	if w.trouble == nil && w.waiting.sentence != "" {
		line, elapsed = line+"  "+w.waiting.sentence, w.waiting.lasted()+elapsed
	}
	w.progress.show(line, elapsed)
}

// progressLine is the live line without its clock.
func progressLine(want store.RunRequest, st store.RunStatus, trouble error) string {
	if trouble != nil {
		return storeTrouble(string(want.ID), trouble)
	}
	if st.Phase == statemachine.Unseen {
		return fmt.Sprintf("%s  waiting for the controller", want.ID)
	}
	warm, cold := st.Counts.Claimed, st.Counts.Created+st.Counts.Launching
	for _, seat := range st.Instances {
		if seat.Warm {
			warm++
		} else {
			cold++
		}
	}
	return fmt.Sprintf("%s  %s  ready %d/%d  warm %d  cold %d", want.ID, st.Phase, st.Counts.Ready, want.Count, warm, cold)
}

// giveBack releases what was asked for, although ctx may have ended. cause is why.
func (w *requestWait) giveBack(ctx context.Context, cause error) error {
	ctx, cancel := waitLimit(context.WithoutCancel(ctx), giveBackLimit, "release")
	defer cancel()
	attempt := w.stored.Attempt
	err := settle(ctx, w.clock, w.progress, string(w.want.ID), func(ctx context.Context) (err error) {
		if w.asked.IsZero() {
			attempt, err = w.find(ctx)
		}
		if err == nil {
			_, err = w.store.ReleaseExactly(ctx, w.want.ID, attempt, store.ReleaseNow, "")
		}
		return err
	})
	w.progress.clear()
	switch {
	case errors.Is(err, store.ErrNotFound):
		return cause // it was never stored
	case err != nil:
		return fmt.Errorf("%w; releasing request %s: %w", cause, w.want.ID, err)
	default:
		return fmt.Errorf("%w: request %s attempt %d was released", cause, w.want.ID, attempt)
	}
}

// find returns the attempt under which the request is stored, after a submission of unknown outcome. What the controller
// asked for is not this client's: it serves jobs of the run.
func (w *requestWait) find(ctx context.Context) (int, error) {
	r, err := w.store.Request(ctx, store.Consistent, w.want.ID)
	if err == nil && r.ByController() {
		err = store.ErrNotFound
	}
	if _, named := r.Workflow(); named {
		return r.OwnAttempt(w.want.WorkflowAttempt), err
	}
	return w.want.Attempt, err
}
