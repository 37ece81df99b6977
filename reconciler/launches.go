package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// launches launches machines for what requests want.
type launches struct {
	*tenure
	cache     *cache
	fleet     fleet.Fleet
	batch     *batch
	planner   *planner
	adopter   *adopter
	refused   *exclusions
	stock     *stock
	reserving sync.Mutex // held from the check of the caps to the reservation, never during I/O
}

// Bounds of parallel work.
const (
	launchWorkers = 4   // launch calls at once: EC2 takes few per second
	fanOut        = 100 // writes at once for one request or launch: within the connections that are kept (internal/awscfg)
)

// maxLaunch bounds the machines of one launch; what is wanted beyond goes into the next. Karpenter's batcher, which
// makes the same call, stops at as many.
const maxLaunch = 1000

// launchLife is how long the record of a finished launch is kept beyond the runs it serves.
const launchLife = 24 * time.Hour

// newLaunchToken names one launch for ever: the record's key, the ClientToken and the machines' tag.
func newLaunchToken() string { return "l-" + uuid.NewString() }

// reconcileLaunch closes a window or carries out a launch.
func (c *launches) reconcileLaunch(ctx context.Context, key string) (Result, error) {
	if strings.HasPrefix(key, batchPrefix) {
		now := c.clock.Now()
		if at := c.batch.closes(key, c.cfg.Batch); now.Before(at) {
			return wakeAt(at, now), nil // others have joined since
		}
		return Result{}, c.intend(ctx, key)
	}
	if err := c.writeIntent(ctx, key); err != nil {
		return Result{}, err
	}
	l, ok := c.cache.launches.launch(key)
	if !ok || l.Done {
		return Result{}, nil
	}
	return Result{}, c.carryOut(ctx, l)
}

// ignorePlan: a refused plan is an answer for its requests, not a failure of the queue.
func ignorePlan(err error) error {
	if errors.Is(err, fleet.ErrNoCapacity) || errors.Is(err, fleet.ErrUnsatisfiable) || errors.Is(err, fleet.ErrRefused) || errors.Is(err, errOverBudget) {
		return nil
	}
	return err
}

// refuse notes for the requests of a window why nothing is launched for them.
func (c *launches) refuse(wants []want, err error) {
	now := c.clock.Now()
	c.logRefusal(wants[0].query.ResourceClass, err)
	_, again := c.refused.slots()
	if last := c.refused.last(wants[0].query); last != "" && errors.Is(err, fleet.ErrNoCapacity) {
		err = fmt.Errorf("%w; refused last: %s", err, last) // only the fleet's own code says what to do about it
	}
	for _, w := range wants {
		c.cache.failedFloor(w.id, ReasonRefused, err.Error())
		c.cache.requests.withRun(w.id, func(r *run) {
			if r.refuse(err, now); again.After(r.launching.retry) {
				r.launching.retry = again
			}
			r.launching.full = errors.Is(err, fleet.ErrNoCapacity) && r.launching.retry.Sub(w.since) > c.cfg.LaunchRetry
		})
	}
}

// logRefusal logs a refusal that only an operator can fix, once for each cause.
func (c *launches) logRefusal(class string, err error, args ...any) {
	if errors.Is(err, fleet.ErrRefused) && c.cache.causes.failed("launch of "+class, causeOf(err)) {
		c.log.Error("launch refused by the fleet", append(args, logkey.Class, class, logkey.Error, err)...)
	}
}

// patience is how many refusals of our parameters or permission in a row a request bears: some 15 s, in
// which a permission that was being edited, or credentials that were being replaced, come back.
const patience = 5

// refuse notes that nothing is launched for a request, why, and when or whether to try again.
func (r *run) refuse(err error, now time.Time) {
	r.lastProblem = err.Error()
	r.launching.refusals++
	if r.launching.never == ReasonHost {
		return // of a launch that began before an agent refused the request
	}
	r.launching.never = ""
	switch {
	case errors.Is(err, errOverBudget): // and none of the others lacks room alone
		r.launching.never = ReasonBudget
	case errors.Is(err, fleet.ErrUnsatisfiable):
		r.launching.never = ReasonUnsatisfiable
	case errors.Is(err, fleet.ErrRefused) && r.launching.refusals >= patience:
		r.launching.never = ReasonRefused
	}
	r.launching.retry = now.Add(refusalPause(r.launching.refusals))
}

// refusalPause is how long a request waits after its n-th refusal in a row: 1, 2, 4 … 32 s, so that a
// request that cannot be refilled for hours does not ask all the time.
func refusalPause(n int) time.Duration { return time.Second << min(max(n-1, 0), 5) }

// carryOut makes the call, records what came, and then the outcome.
func (c *launches) carryOut(ctx context.Context, l store.Launch) error {
	var plan fleet.Plan
	if err := json.Unmarshal(l.Plan, &plan); err != nil {
		return c.finish(ctx, l, nil, fmt.Sprintf("plan cannot be read: %v", err))
	}
	out, err := c.call(ctx, l, plan)
	if errors.Is(err, fleet.ErrRefused) {
		// Of this call nothing came; an earlier try, whose answer was lost, may have brought machines.
		machines, listed := c.fleet.List(ctx, l.Token)
		if listed != nil {
			return fmt.Errorf("launch %s: %w", l.Token, errors.Join(err, listed))
		}
		if err := c.record(ctx, &l, machines); err != nil {
			return err
		}
		if len(machines) > 0 {
			return c.finish(ctx, l, machines, err.Error(), fleet.Refusal{Code: codeOf(err)})
		}
		c.logRefusal(l.ResourceClass, err, logkey.Launch, l.Token)
		for _, s := range l.Seats {
			c.cache.requests.withRun(s.RequestID, func(r *run) { r.refuse(err, c.clock.Now()) })
		}
		return c.finish(ctx, l, nil, err.Error(), fleet.Refusal{Code: codeOf(err)})
	}
	if err != nil {
		return fmt.Errorf("launch %s: %w", l.Token, err) // outcome unknown: the identical call again
	}
	var refused []string
	for _, r := range out.Refused {
		c.refused.add(r)
		refused = append(refused, textOf(r))
	}
	if err := c.record(ctx, &l, out.Machines); err != nil {
		return err
	}
	for _, s := range l.Seats {
		for _, where := range zonesOf(out.Refused) {
			c.cache.note(s.RequestID, store.CodeRefused, "%s", where)
		}
	}
	return c.finish(ctx, l, out.Machines, list(refused), out.Refused...)
}

// call makes the launch call, or finds out what an earlier one brought if no request wants the machines
// any more: repeating it then could launch machines for no one.
func (c *launches) call(ctx context.Context, l store.Launch, plan fleet.Plan) (fleet.Outcome, error) {
	wanted := slices.ContainsFunc(l.Seats, c.cache.wants)
	uncalled := c.batch.begin(l.Token)
	switch {
	case wanted:
		return c.fleet.Launch(ctx, plan)
	case uncalled:
		return fleet.Outcome{}, nil
	}
	machines, err := c.fleet.List(ctx, l.Token)
	return fleet.Outcome{Machines: machines}, err
}

// record writes a record for every machine that came (S03). The machines are handed to the seats in
// the order of their ids, so that a repeated call deals them out alike.
func (c *launches) record(ctx context.Context, l *store.Launch, machines []fleet.Machine) error {
	slices.SortFunc(machines, func(a, b fleet.Machine) int { return strings.Compare(a.ID, b.ID) })
	var writes errgroup.Group
	writes.SetLimit(fanOut)
	l.Seats = slices.Clone(l.Seats)
	next := 0
	for i := range l.Seats {
		seat := &l.Seats[i]
		seat.Instances = nil
		for ; next < len(machines) && len(seat.Instances) < seat.Count; next++ {
			m := machines[next]
			seat.Instances = append(seat.Instances, store.InstanceID(m.ID))
			writes.Go(func() error { return c.adopter.adopt(ctx, m, seat.RequestID, seat.Attempt) })
		}
	}
	for ; next < len(machines); next++ { // more than asked for: known, owned by the last seat, given back as surplus
		m, seat := machines[next], l.Seats[len(l.Seats)-1]
		writes.Go(func() error { return c.adopter.adopt(ctx, m, seat.RequestID, seat.Attempt) })
	}
	if err := writes.Wait(); err != nil {
		return fmt.Errorf("launch %s: %w", l.Token, err)
	}
	return nil
}

// putOutcome writes the outcome, and reports whether it is ours. If another came first, it was an earlier try of ours or the last
// leader: theirs stands.
func (c *launches) putOutcome(ctx context.Context, l store.Launch) (out store.Launch, ours bool, err error) {
	out, err = c.cache.store.PutLaunch(ctx, l)
	if !errors.Is(err, store.ErrConflict) {
		return out, true, err
	}
	have, readErr := c.cache.store.Launch(ctx, l.Token)
	if readErr != nil {
		return l, false, readErr
	}
	c.cache.launches.applyLaunch(have)
	if have.Done {
		return have, false, nil
	}
	return l, false, err
}

// keepUntil returns when the record of a launch that is done at now may go: what was launched for an attempt counts
// for its budget, at most until its run is over.
func (c *launches) keepUntil(l store.Launch, now time.Time) time.Time {
	last := now
	for _, s := range l.Seats {
		if r, ok := c.cache.requests.getRun(s.RequestID); ok && r.alive(s.Attempt) {
			last = later(last, r.status.Deadline.Add(c.cfg.maxRuntime(*r.request)))
		}
	}
	return last.Add(launchLife).Truncate(time.Second)
}

// finish writes the outcome and wakes the requests.
func (c *launches) finish(ctx context.Context, l store.Launch, machines []fleet.Machine, problem string, refused ...fleet.Refusal) error {
	now := c.clock.Now()
	l.Done, l.DoneAt, l.Error, l.ExpiresAt = true, store.At(now), problem, c.keepUntil(l, now)
	l, ours, err := c.putOutcome(ctx, l)
	if err != nil {
		return fmt.Errorf("launch %s: outcome: %w", l.Token, err)
	}
	c.cache.launches.applyLaunch(l)
	c.cache.refuseEnded(l.Token)
	if len(machines) > 0 {
		c.cache.causes.over("launch of " + l.ResourceClass)
	}
	if ours {
		c.recorder.Launched(l, len(machines), refused)
	}
	if problem != "" {
		c.log.Warn("a launch brought fewer machines than asked for", logkey.Launch, l.Token, logkey.Count, len(machines), logkey.Reason, problem)
	}
	for _, s := range l.Seats {
		c.cache.requests.withRun(s.RequestID, func(r *run) {
			if len(machines) > 0 {
				r.launching.refusals = 0
			}
			if problem != "" {
				r.lastProblem = "launch: " + problem
			}
		})
		if problem != "" {
			c.cache.failedFloor(s.RequestID, ReasonRefused, problem)
		}
		c.cache.note(s.RequestID, store.CodeCame, "%d after %s", len(s.Instances), now.Sub(l.CreatedAt.Time).Round(time.Millisecond))
		c.queues.requests.Add(s.RequestID)
	}
	if len(machines) < l.Count {
		c.cache.capacity.freed()
	}
	return nil
}
