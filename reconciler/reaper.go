package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// reaper ends the machines of terminated instances.
type reaper struct {
	*tenure
	cache      *cache
	fleet      fleet.Fleet
	fleetSweep *fleetSweep
	refused    refusals // machines whose end the fleet refused
}

// reap terminates machines whose records say so, until the fleet confirms, and lets the records
// expire then. A record without a machine cannot happen: it goes last (H06, H08).
func (c *reaper) reap(ctx context.Context, _ string) (Result, error) {
	now := c.clock.Now()
	var due []string
	var ending []snapshot
	c.cache.instances.eachEnding(func(in *instance) {
		ending = append(ending, in.snapshot())
		r, refused := c.refused[in.record.ID]
		if in.machine.terminateAskedAt.IsZero() || refused && !now.Before(r.again) || !refused && now.Sub(in.machine.terminateAskedAt) >= reapRepeat {
			due = append(due, string(in.record.ID))
			in.machine.terminateAskedAt = now
		}
	})
	if len(ending) == 0 {
		c.refused = nil
		return Result{}, nil
	}
	slices.Sort(due) // a map has no order; with one, the same events have the same consequences
	slices.SortFunc(ending, func(a, b snapshot) int { return strings.Compare(string(a.ID), string(b.ID)) })
	var errs []error
	for chunk := range slices.Chunk(due, reapChunk) {
		errs = append(errs, c.terminate(ctx, chunk, now))
	}
	next := c.nextLook(ending, now)
	took, err := c.confirm(ctx, ending, now)
	errs = append(errs, err)
	next = max(next, reapShare*took)
	if err := errors.Join(errs...); err != nil {
		c.log.Warn("ending or confirming terminated machines failed; it is repeated", logkey.Error, err) // one that cannot be ended keeps no other alive
	}
	return Result{After: next}, nil
}

// nextLook returns when the first of those whose end was refused is due again, or reapAgain while the end
// of another is awaited. It forgets what is no longer ending.
func (c *reaper) nextLook(ending []snapshot, now time.Time) time.Duration {
	still, next := refusals{}, refusedMax
	for _, s := range ending {
		r, refused := c.refused[s.ID]
		if !refused {
			next = reapAgain
			continue
		}
		still[s.ID] = r
		next = min(next, r.again.Sub(now))
	}
	c.refused = still
	return next
}

// terminate asks for the end of machines and notes which were refused.
func (c *reaper) terminate(ctx context.Context, ids []string, now time.Time) error {
	err := c.fleet.Terminate(ctx, ids...)
	refused := refusedOf(err)
	for _, text := range ids {
		id := store.InstanceID(text)
		if err == nil || len(refused) > 0 && !refused[text] {
			delete(c.refused, id)
			continue
		}
		if c.refused == nil {
			c.refused = refusals{}
		}
		r, before := c.refused[id]
		if !before {
			r.since = now
		}
		r.again = now.Add(refusedPause(now.Sub(r.since)))
		c.refused[id] = r
	}
	if err != nil {
		return fmt.Errorf("terminate: %w", err)
	}
	return nil
}

// confirm retires the records of machines the fleet says are gone. One that is not listed is gone as compare says. It returns how
// long the fleet took to list them: one that does not answer says nothing of its size.
func (c *reaper) confirm(ctx context.Context, ending []snapshot, now time.Time) (took time.Duration, err error) {
	asked := c.clock.Now()
	machines, err := c.fleet.List(ctx, "")
	if err != nil {
		return 0, fmt.Errorf("list fleet: %w", err)
	}
	took = c.clock.Since(asked)
	state := make(map[store.InstanceID]fleet.State, len(machines))
	for _, m := range machines {
		state[store.InstanceID(m.ID)] = m.State
	}
	gone := slices.DeleteFunc(ending, func(s snapshot) bool { return !c.gone(s.ID, state, now) })
	return took, sideBySide(gone, func(s snapshot) error {
		_, err := c.cache.write(ctx, s.ID, func(cur snapshot) (store.Instance, error) {
			return c.cache.store.Retire(ctx, cur.Instance, now.Add(recordLife), now)
		})
		if err != nil {
			return fmt.Errorf("retire %s: %w", s.ID, err)
		}
		return nil
	})
}

// gone reports whether a listing says that an instance has ended.
func (c *reaper) gone(id store.InstanceID, listed map[store.InstanceID]fleet.State, now time.Time) bool {
	gone := false
	c.cache.instances.with(id, func(in *instance) {
		switch listed[id] {
		case fleet.Ended:
			gone = true
		case "":
			_, refused := c.refused[id] // it lives, unless a listing that can be believed says otherwise
			gone = in.absent(now, c.cfg) && !(refused && c.fleetSweep.incomplete.is())
		default:
			in.machine.unlistedSince = time.Time{}
		}
	})
	return gone
}

// Reaping: terminated instances are ended together.
const (
	reapKey    = "reap"
	reapChunk  = 500             // ids per call; EC2 advises at most 1,000 (EC2 API, TerminateInstances)
	reapAgain  = 2 * time.Second // between looks whether they are gone
	reapRepeat = 30 * time.Second
	refusedMax = time.Minute // the longest pause after a refusal, which an operator may have to repair
	reapShare  = 5           // a pause is so many times as long as the fleet's listing took: that of 10,000 machines is ten pages
)

// refusals are machines whose end the fleet refused. Only the reaper's one worker uses it.
type refusals map[store.InstanceID]refusal

type refusal struct {
	since time.Time // the first in a row
	again time.Time // when the machine is due again
}

// refusedPause grows by a quarter with each refusal: a passing fault costs 2 s, and a missing permission no
// call every 2 s for ever.
func refusedPause(lasts time.Duration) time.Duration {
	return min(max(lasts/4, reapAgain), refusedMax)
}

// refusedOf returns the machines that err names, each of which may have an error of its own.
func refusedOf(err error) map[string]bool {
	out := map[string]bool{}
	var walk func(error)
	walk = func(err error) {
		if one := (*fleet.TerminateError)(nil); errors.As(err, &one) {
			out[one.ID] = true
		}
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range all.Unwrap() {
				walk(e)
			}
		}
	}
	walk(err)
	return out
}
