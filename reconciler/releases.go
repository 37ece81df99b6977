package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// releases brings instances back to the pool.
type releases struct {
	*tenure
	cache    *cache
	runners  *runners
	observer *observer
	seats    *seats
}

// releaseCause says why seats are given back.
type releaseCause int

const (
	requestOver releaseCause = iota // the request failed, is over, or a newer attempt takes its place
	runOver                         // the controller gave the request back: its run is over, or waits
	surplusSeat                     // the request goes on, without these
)

// overFor says why seats of a request that is over are given back.
func overFor(r store.RunRequest) releaseCause {
	if r.ReleaseReason != "" {
		return runOver
	}
	return requestOver
}

// ReasonOver is recorded with instances that were not ready when their request ended.
const ReasonOver = "its request ended before it was ready"

// lastMinute: so long before an instance's threshold its return no longer waits for GitHub, or for its agent's word of it: their
// outage must not cost a machine. The agent itself waits for a running job and stops the listener.
const lastMinute = time.Minute

// unreachable lists the seats that will never be handed over, because their runners were deleted at GitHub.
func unreachable(seats []snapshot) []snapshot {
	var out []snapshot
	for _, s := range seats {
		if s.unreachable() && s.State != statemachine.Running {
			out = append(out, s)
		}
	}
	return out
}

// windDown gives back what a request holds that is over. A seat that was not handed over yet, and on which a job of the run is
// at work all the same, stays to the end of that job, and no longer than a run may take.
func (g *releases) windDown(ctx context.Context, r run, own []snapshot, mode store.ReleaseMode) (Result, error) {
	err := sideBySide(own, func(s snapshot) error {
		if mode == store.ReleaseNow || !s.serving() {
			return nil
		}
		_, err := g.seats.renew(ctx, []snapshot{s}, s.Since.Add(g.cfg.maxRuntime(*r.request)))
		return err
	})
	back, failed := g.release(ctx, own, mode, overFor(*r.request))
	return back, errors.Join(err, failed)
}

// release returns seats to the pool: what is healthy goes through the release handshake, nothing
// healthy dies for a sibling. It always says when to look again: at once, or at those that must wait.
func (g *releases) release(ctx context.Context, seats []snapshot, mode store.ReleaseMode, why releaseCause) (Result, error) {
	if len(seats) == 0 {
		return Result{}, nil
	}
	seats, err := g.readReportsNow(ctx, seats)
	if err != nil {
		return Result{}, err
	}
	var waits atomic.Int64
	var writes errgroup.Group
	writes.SetLimit(fanOut)
	for _, s := range seats {
		writes.Go(func() error {
			done, err := g.releaseOne(ctx, s, mode, why)
			if !done {
				waits.Add(1)
				g.cache.instances.with(s.ID, func(in *instance) { in.awaited = true })
			}
			if err != nil {
				return fmt.Errorf("release %s: %w", s.ID, err)
			}
			return nil
		})
	}
	err = writes.Wait()
	if waits.Load() > 0 {
		return Result{After: g.cfg.HotPoll}, err
	}
	return Result{After: time.Millisecond}, err
}

// readReportsNow reads what the agents said last, unless that was just done.
func (g *releases) readReportsNow(ctx context.Context, seats []snapshot) ([]snapshot, error) {
	var ids []store.InstanceID
	for _, s := range seats {
		if s.vitals.reportChanged || g.clock.Since(s.vitals.readAt) > g.cfg.HotPoll/2 {
			ids = append(ids, s.ID)
		}
	}
	if err := g.observer.readReports(ctx, ids); err != nil {
		return nil, err
	}
	out := make([]snapshot, 0, len(seats))
	for _, s := range seats {
		if cur, ok := g.cache.instances.get(s.ID); ok && cur.Assignment == s.Assignment && cur.State.Owned() {
			out = append(out, cur)
		}
	}
	return out, nil
}

// releaseOne returns one seat and reports whether that is done.
func (g *releases) releaseOne(ctx context.Context, s snapshot, mode store.ReleaseMode, why releaseCause) (bool, error) {
	event := statemachine.Unclaimed
	switch {
	case s.machine.cloud == statemachine.Gone:
		return false, nil // its own reconcile ends it, and records why EC2 ended it
	case s.State == statemachine.Running:
		event = statemachine.Released
	case s.State == statemachine.Claimed && !s.vitals.fresh:
		return false, nil // its gate or its silence decides
	case s.State == statemachine.Created && s.scriptPassed() && !s.vitals.fresh:
		return false, nil // its silence or its threshold decides
	case s.State == statemachine.Created && !s.scriptPassed():
		if why == surplusSeat {
			return false, nil // it boots: wait for it, then pool it
		}
		return g.reject(ctx, s)
	}
	if mode == "" {
		mode = store.ReleaseDrain
	}
	if idle, err := g.ensureIdle(ctx, s, mode, why); !idle || err != nil {
		return false, err
	}
	now := g.clock.Now()
	limit := time.Duration(0) // 0: the limit of the class
	if class, floor := s.RunID.Floor(); floor {
		limit = g.cfg.FloorStep(class) // a floor's instance waits in the pool for one step only
	}
	_, err := g.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{Event: event, Now: now, Release: mode, Limit: limit},
			cur.Assignment == s.Assignment && cur.State == s.State && cur.Registration.Serial == s.Registration.Serial // no runner came since
	})
	return err == nil, err
}

// reject ends an instance that was not ready when its request ended.
func (g *releases) reject(ctx context.Context, s snapshot) (bool, error) {
	_, err := g.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
		return store.Transition{Event: statemachine.Rejected, Now: g.clock.Now(), Reason: ReasonOver},
			cur.Assignment == s.Assignment && cur.State == s.State && !cur.scriptPassed()
	})
	return err == nil, err
}

// maybeBusy reports whether a job runs on an instance, as far as its agent has said, or a runner that GitHub could not be asked to
// delete yet may be registered any moment. The latter is waited for until the last minute.
func maybeBusy(s snapshot, now time.Time) bool {
	return s.busy() || s.registering() && now.Before(s.Threshold.Add(-lastMinute))
}

// ensureIdle makes sure that no job runs and none can start: the heartbeat says so, and the runner is
// deleted at GitHub, which hands out the jobs and refuses while one runs. A client that cancels (Now) waits for neither. The
// controller, which saw a cancelled run, waits for GitHub: by now the run may be run again, and a job of it be at work there.
func (g *releases) ensureIdle(ctx context.Context, s snapshot, mode store.ReleaseMode, why releaseCause) (bool, error) {
	hurried := mode == store.ReleaseNow
	// Having asked GitHub once, it looks at the heartbeat first, as for a drain.
	if (!hurried || why == runOver && s.awaited) && maybeBusy(s, g.clock.Now()) {
		return false, nil
	}
	err := g.runners.removeRunner(ctx, s)
	switch {
	case err == nil || hurried && why != runOver:
		return true, nil
	case errors.Is(err, githubapi.ErrBusy):
		return false, nil
	case !g.clock.Now().Before(s.Threshold.Add(-lastMinute)):
		g.log.Warn("releasing an instance without confirmation from GitHub, since its threshold is near", logkey.InstanceID, s.ID, logkey.Error, err)
		return true, nil
	}
	return false, err
}
