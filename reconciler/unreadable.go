package reconciler

import (
	"context"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// unreadable answers a request whose record cannot be read: its client learns which field is wrong, and does not wait for
// its own limit. What an earlier version of the record was given goes back, but for what is handed over already: a run
// that is under way keeps its machines to their thresholds.
func (c *requests) unreadable(ctx context.Context, r run, held []snapshot) (Result, error) {
	c.cache.capacity.unwait(r.id)
	now := c.clock.Now()
	if r.status == nil || r.status.Attempt < r.bad.Attempt {
		st := store.RunStatus{ID: r.id, Attempt: max(1, r.bad.Attempt), Deadline: store.At(now)}
		if r.status != nil {
			st.Version = r.status.Version
		}
		return Result{}.sooner(time.Millisecond), c.statuses.putStatus(ctx, st, statemachine.Accept, now)
	}
	switch r.status.Phase {
	case statemachine.Pending:
		st := *r.status
		st.Reason, st.Message = ReasonSpec, r.bad.Err.Error()
		return Result{}.sooner(time.Millisecond), c.statuses.putStatus(ctx, st, statemachine.Fail, now)
	case statemachine.Failed, statemachine.PhaseReleased:
		back, err := c.releases.release(ctx, held, store.ReleaseDrain, requestOver)
		if err != nil || len(held) > 0 {
			return back, err
		}
		if r.refused() { // the request must expire too, or a later scan accepts it when its run has fewer requests
			rec, err := c.cache.store.Run(ctx, store.Consistent, r.id)
			if err != nil {
				return Result{}, fmt.Errorf("request %s: %w", r.id, err)
			}
			if rec.Request != nil && rec.Request.Attempt == r.status.Attempt {
				r.request = rec.Request
			}
		}
		return c.statuses.expireRequest(ctx, r)
	case statemachine.Ready:
		return Result{}, nil
	case statemachine.Unseen:
	}
	return Result{}, fmt.Errorf("request %s: phase %q: %w", r.id, r.status.Phase, store.ErrInvalid)
}

// unanswered returns the request that a key is the record of, if nothing is known of its status.
func (v *requestRecords) unanswered(k store.Key) (store.RequestID, bool) {
	id, ok := k.RequestID()
	if !ok || k.Sort != store.KindRunRequest {
		return "", false
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	r, known := v.byID[id]
	return id, !known || r.status == nil
}
