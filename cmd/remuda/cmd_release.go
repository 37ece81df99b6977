package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const releaseLong = `Gives the runners of a request back and waits until nothing is held for it any more.

Mode drain lets running jobs end; mode now does not wait for them: the run was cancelled.
Healthy runners go back to the pool. A release stays in force when the command ends early.
Releasing again is harmless, and an old attempt never frees a newer one.`

// releaseOptions are the flags of `remuda release`.
type releaseOptions struct {
	*app
	id, attempt, mode, timeout string

	requestID store.RequestID
	number    int // 0: the stored attempt
	limit     time.Duration
	audit     audit.Options
}

func newReleaseCmd(a *app) *cobra.Command {
	o := &releaseOptions{app: a}
	cmd := &cobra.Command{
		Use:   "release --id ID",
		Short: "Give the runners of a request back",
		Long:  releaseLong,
		Args:  noArgs,
		RunE:  a.onStore(true, o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.id, "id", "", "request `id`")
	fs.StringVar(&o.attempt, "attempt", "", "attempt of the run, `N` from 1 (default the newest)")
	fs.StringVar(&o.mode, "mode", string(store.ReleaseDrain), "drain or now")
	fs.StringVar(&o.timeout, "timeout", "", "longest `duration` to wait (default limits.running)")
	completesWith(cmd, "id", completesIDs(a, false, true))
	completes(cmd, "mode", string(store.ReleaseDrain), string(store.ReleaseNow))
	return exits(cmd, exitNotFound, exitTimedOut, exitInterrupted)
}

func (o *releaseOptions) validate(cfg config.Config) error {
	var errs [4]error
	o.requestID, errs[0] = parseID("--id", o.id)
	if o.attempt != "" {
		o.number, errs[1] = parseWhole("--attempt", o.attempt, 1, math.MaxInt32)
	}
	errs[2] = oneOf("--mode", o.mode, []string{string(store.ReleaseDrain), string(store.ReleaseNow)})
	o.limit, errs[3] = parseDuration("--timeout", cmp.Or(o.timeout, cfg.UsualRuntime().String()), cfg.Requests.MaxRuntime)
	o.audit = auditConfig(cfg)
	return errors.Join(errs[:]...)
}

func (o *releaseOptions) run(ctx context.Context, st *store.Store) error {
	wait, cancel := waitLimit(ctx, o.limit, fmt.Sprintf("release %s", o.requestID))
	defer cancel()
	start := o.clock.Now()
	show := newProgress(o.streams)
	defer show.clear()
	var attempt int // the request's own
	err := settle(wait, o.clock, show, o.id, func(ctx context.Context) error {
		r, err := st.Release(ctx, o.requestID, o.number, store.ReleaseMode(o.mode))
		attempt = r.OwnAttempt(o.number)
		if errors.Is(err, store.ErrNotFound) && r.Attempt == 0 {
			return notFound("request %s: not found", o.requestID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := o.await(wait, st, attempt, show); err != nil {
		return fmt.Errorf("%w (the release stays in force)", err)
	}
	show.clear()
	_, err = fmt.Fprintf(o.out, "released %s attempt %d after %s\n", o.requestID, attempt, seconds(o.clock.Now().Sub(start)))
	return err
}

// await waits until nothing is held for attempt.
func (o *releaseOptions) await(ctx context.Context, st *store.Store, attempt int, show *progress) error {
	start := o.clock.Now()
	hint := newControllerHint(st, o.clock, o.audit)
	notify := every{period: notifyEvery, next: start.Add(notifyEvery)}
	var borne denials
	return awaitAnswer(ctx, o.clock, func(ctx context.Context) (bool, error) {
		now := o.clock.Now()
		if notify.due(now) {
			_ = st.Notify(ctx, o.requestID) // a hint: lost, it costs latency only
		}
		status, err := st.Status(ctx, store.Eventual, o.requestID)
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		if err == nil && releaseDone(status, attempt) {
			return true, nil
		}
		if errors.Is(err, store.ErrRefused) && !borne.bears(err, now) {
			return false, err // only an operator can cure it
		}
		if err == nil {
			borne = denials{}
		}
		hint.look(ctx, show, status.Attempt != attempt, now, err)
		show.show(releaseLine(o.requestID, attempt, status, err), "  "+short(now.Sub(start)))
		return false, nil
	})
}

// releaseDone reports whether nothing is held for attempt any more. A newer attempt is only taken up
// after that.
func releaseDone(st store.RunStatus, attempt int) bool {
	return st.Attempt > attempt || st.Attempt == attempt && st.Phase == statemachine.PhaseReleased
}

func releaseLine(id store.RequestID, attempt int, st store.RunStatus, trouble error) string {
	switch {
	case trouble != nil:
		return storeTrouble(string(id), trouble)
	case st.Attempt != attempt:
		return fmt.Sprintf("%s  waiting for the controller", id)
	default:
		return fmt.Sprintf("%s  winding down  was %s with %d of %d", id, st.Phase, len(st.Instances), st.Counts.Wanted)
	}
}
