package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// floors keep machines idle while nobody asks: launched for no request, given to the pool once their script has passed, renewed
// while they are wanted, and replaced. They come after every request.
type floors struct {
	*tenure
	cache    *cache
	stock    *stock
	batch    *batch
	releases *releases
}

// floorPause gathers what changes at about the same time into one look: a look walks the idle machines of its class.
const floorPause = 200 * time.Millisecond

// floorWorkers bounds how many floors are reconciled in parallel. A floor that waits for a write does not delay the others.
const floorWorkers = 4

// reconcileFloor adjusts the idle instances of one class to its schedule. An instance that cannot be written, or that has no record, does
// not block the others.
func (f *floors) reconcileFloor(ctx context.Context, class string) (Result, error) {
	res, unpooled := f.pool(ctx, class)
	of := f.cfg.Classes[class].Floor
	if !of.configured() {
		return res, errors.Join(unpooled, f.forget(ctx, class))
	}
	now := f.clock.Now()
	want, idle := f.cache.floorWants(class, now), f.stock.keepable(class, now)
	res = earliest(res, wakeAt(of.Schedule.Next(now), now))
	for _, s := range idle {
		res = earliest(res, wakeAt(f.cfg.Retired(of, s.CreatedAt.Time), now))
	}
	renewed, unrenewed := f.renew(ctx, of, idle[:min(want, len(idle))])
	res = earliest(res, renewed)
	unended := f.bound(ctx, of, f.stock.retired(class, now))
	given, undismissed := f.dismiss(ctx, of, f.stock.unusable(class, idle), f.stock.pooled(class, now))
	failed := errors.Join(unpooled, unrenewed, unended, undismissed)
	if given > 0 {
		return res.sooner(floorPause), failed // count the instances again
	}
	f.cache.floors.with(class, func(f *floor) { f.hungry = true }) // set before reading the capacity, so that later changes wake the floor
	f.launch(class)
	is := f.state(class, want, len(idle))
	hungry := is.Reason == ReasonCap || is.Reason == ReasonBehind
	if f.cache.floors.with(class, func(f *floor) { f.hungry = hungry }); hungry {
		res = res.sooner(f.cfg.WarmPoll) // a fallback; freed capacity wakes the floor earlier
	}
	if at := f.cache.floors.get(class).retry; is.Reason != "" && now.Before(at) {
		res = earliest(res, wakeAt(at, now))
	}
	return res, errors.Join(failed, f.tell(ctx, is))
}

// pool gives what was launched for the floor, and has passed its script, to the pool.
func (f *floors) pool(ctx context.Context, class string) (Result, error) {
	var ready []snapshot
	for _, s := range f.cache.instances.heldBy(store.FloorOwner(class)) {
		if s.scriptPassed() {
			ready = append(ready, s)
		}
	}
	return f.releases.release(ctx, ready, store.ReleaseDrain, surplusSeat)
}

// renew extends those that are kept, in short steps and never past their greatest age: what is not extended goes by itself. All
// that are due soon are extended together.
func (f *floors) renew(ctx context.Context, of Floor, kept []idleMachine) (Result, error) {
	now := f.clock.Now()
	var res Result
	var due []idleMachine
	until := func(s idleMachine) time.Time {
		return earlier(now.Add(f.cfg.FloorStep(s.ResourceClass)), s.CreatedAt.Add(of.MaxAge))
	}
	for _, s := range kept {
		step := f.cfg.FloorStep(s.ResourceClass)
		at := s.Threshold.Add(-step / 2)
		switch {
		case s.PooledAt.IsZero(), !s.CreatedAt.Add(of.MaxAge).After(s.Threshold.Time):
		case now.Before(at.Add(-step / 6)):
			res = earliest(res, wakeAt(at, now))
		case until(s).After(s.Threshold.Time):
			due = append(due, s)
			res = earliest(res, wakeAt(until(s).Add(-step/2), now))
		}
	}
	return res, f.limit(ctx, due, now, until)
}

// limit sets the deadline of each idle machine.
func (f *floors) limit(ctx context.Context, list []idleMachine, now time.Time, until func(idleMachine) time.Time) error {
	return sideBySide(list, func(s idleMachine) error {
		_, err := f.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.Renewed, Now: now, Limit: until(s).Sub(now)}, cur.Version == s.Version
		})
		if lost(err) != nil {
			return fmt.Errorf("renew %s: %w", s.ID, err)
		}
		return nil
	})
}

// bound ends retired machines at the greatest age, even if the class keeps machines idle for longer after their last run. A machine that
// returned to the pool later stays for one more step.
func (f *floors) bound(ctx context.Context, of Floor, retired []idleMachine) error {
	now := f.clock.Now()
	until := func(s idleMachine) time.Time {
		end := later(s.CreatedAt.Add(of.MaxAge), s.PooledAt.Add(f.cfg.FloorStep(s.ResourceClass)))
		return later(end, now.Add(time.Second))
	}
	retired = slices.DeleteFunc(retired, func(s idleMachine) bool { return of.MaxAge == 0 || !until(s).Before(s.Threshold.Time) })
	return f.limit(ctx, retired, now, until)
}

// dismiss terminates idle machines that block capacity for requests. Otherwise it terminates the oldest pooled machines above the
// maximum idle count. It returns how many were terminated.
func (f *floors) dismiss(ctx context.Context, of Floor, inTheWay, pooled []idleMachine) (int, error) {
	ending, why := inTheWay, reasonRoom
	if len(ending) == 0 && of.Max > 0 && len(pooled) > of.Max {
		ending, why = slices.DeleteFunc(slices.Clone(pooled[of.Max:]), func(s idleMachine) bool { return s.busy() }), reasonSurplus
	}
	var ended atomic.Int64
	err := sideBySide(ending, func(s idleMachine) error {
		_, err := f.cache.transition(ctx, s.ID, func(cur snapshot) (store.Transition, bool) {
			return store.Transition{Event: statemachine.Dismissed, Now: f.clock.Now(), Reason: why, Detail: why}, cur.Version == s.Version && !cur.busy()
		})
		if err == nil {
			ended.Add(1)
		}
		if err = lost(err); err != nil {
			return fmt.Errorf("dismiss %s: %w", s.ID, err)
		}
		return nil
	})
	return int(ended.Load()), err
}

// lost is err unless another was quicker: the instance was claimed meanwhile, or has ended.
func lost(err error) error {
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExpired) || errors.Is(err, statemachine.ErrNoRule) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// launch orders what the floor is short of, as far as it may be launched.
func (f *floors) launch(class string) {
	id, now := store.FloorOwner(class), f.clock.Now()
	f.batch.leave(id)
	n := f.stock.launchable(class)
	if n == 0 {
		return
	}
	k := f.batch.set(want{id: id, attempt: 1, count: n, since: now, query: f.cfg.FloorQuery(class)})
	f.batch.join(k, now)
	f.queues.launches.AddAfter(k, f.cfg.Batch)
}

// state says how the floor stands: what it is short of, and why.
func (f *floors) state(class string, want, have int) store.Floor {
	out := store.Floor{Class: class, Wanted: want, Have: min(have, want)}
	now, known := f.clock.Now(), f.cache.floors.get(class)
	if want == 0 && f.cfg.Classes[class].Floor.wanted(now) > 0 {
		out.Reason, out.Detail = ReasonBudget, "floors are off, or what it may launch is, until the month of the budget ends"
		return out
	}
	if have >= want {
		return out
	}
	launching, booting := f.stock.coming(class, now)
	_, waiting := f.stock.waiting.shortOf(class)
	switch {
	case known.failures > 0:
		out.Reason, out.Detail = known.reason, store.Head(fmt.Sprintf("%d failures in a row; the last: %s", known.failures, known.problem), store.MaxMessage)
	case have+booting >= want:
		out.Reason = ReasonBoot
	case have+booting+launching+f.batch.pending(store.FloorOwner(class)) >= want:
		out.Reason = ReasonLaunching
	case waiting > 0:
		out.Reason, out.Detail = ReasonBehind, "requests of the class wait, and come first"
	case f.stock.room(class) == 0:
		setting, allows := f.cache.capacity.tightest(class)
		out.Reason, out.Detail = ReasonCap, fmt.Sprintf("%s allows %d; live instances and waiting requests use all of it", setting, allows)
	default:
		out.Reason = ReasonLaunching
	}
	return out
}

// tell writes how the floor stands, if that has changed.
func (f *floors) tell(ctx context.Context, is store.Floor) error {
	was := f.cache.floors.get(is.Class).record
	if was.Version > 0 && was.Wanted == is.Wanted && was.Have == is.Have && was.Reason == is.Reason && was.Detail == is.Detail && was.ExpiresAt.Equal(is.ExpiresAt) {
		return nil
	}
	now := store.At(f.clock.Now())
	is.Since, is.ChangedAt, is.Version = now, now, was.Version
	if was.Version > 0 && was.Wanted == is.Wanted && was.Reason == is.Reason {
		is.Since = was.Since
	}
	out, err := f.cache.store.PutFloor(ctx, is)
	if err != nil {
		return fmt.Errorf("floor of %s: %w", is.Class, err)
	}
	f.cache.floors.applyFloor(out)
	return nil
}

// forget lets the record of a floor that is no longer configured expire.
func (f *floors) forget(ctx context.Context, class string) error {
	f.batch.leave(store.FloorOwner(class))
	if was := f.cache.floors.get(class).record; was.Version == 0 || !was.ExpiresAt.IsZero() {
		return nil
	}
	return f.tell(ctx, store.Floor{Class: class, ExpiresAt: f.clock.Now().Add(recordLife).Truncate(time.Second)})
}

// lookAtFloors has every floor looked at.
func (c *cache) lookAtFloors() {
	for _, class := range c.cfg.floors() {
		c.queues.floors.AddAfter(class, floorPause)
	}
}

// noteFloor tells the floor of an instance's class what became of it.
func (c *cache) noteFloor(was, is store.Instance) {
	_, owned := was.RunID.Floor()
	if !owned && !c.cfg.Classes[is.ResourceClass].Floor.configured() {
		return
	}
	raw := owned || was.State == statemachine.Idle && was.PooledAt.IsZero()
	ended := was.State != statemachine.Terminated && is.State == statemachine.Terminated
	switch {
	case raw && ended && is.Reason != statemachine.ReasonDismissed && is.Reason != statemachine.ReasonDismissedAtOnce:
		c.failedFloor(store.FloorOwner(is.ResourceClass), FloorFailing, fmt.Sprintf("instance %s: %s", is.ID, cmp.Or(is.Reason, "ended")))
	case was.PooledAt.IsZero() && !is.PooledAt.IsZero():
		c.floors.with(is.ResourceClass, func(f *floor) { f.failures, f.reason, f.problem, f.retry = 0, "", "", time.Time{} })
	}
	if was.State != is.State || was.PooledAt != is.PooledAt {
		c.queues.floors.AddAfter(is.ResourceClass, floorPause)
	}
}

// failedFloor notes that what was launched for a floor failed. Others have no floor.
func (c *cache) failedFloor(id store.RequestID, reason, problem string) {
	if class, is := id.Floor(); is {
		c.floors.with(class, func(f *floor) { f.failed(reason, problem, c.clock.Now()) })
		c.queues.floors.AddAfter(class, floorPause)
	}
}
