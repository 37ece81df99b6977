package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// ending is an installation that ends: first its machines while a controller leads, then the controllers, then the rest.
type ending struct {
	*app
	store   *store.Store
	remains remains
	force   bool
	quiet   time.Duration // how long a lease stays as it is only if no controller leads
	show    *progress

	lease   store.Lease // as it was seen last
	since   time.Time   // when it was first seen so
	led     bool        // a controller led while this command looked
	drained bool        // EC2 had no machine when no record was left
	told    bool
	order   every
}

// remains is what an installation has at EC2, as ec2fleet.Remains has it.
type remains interface {
	Machines(ctx context.Context) (left int, up []string, err error)
	Terminate(ctx context.Context, ids ...string) error
}

// orderEvery is between two drain orders, for machines that were launched after the first: long enough for a run that was
// given one to begin its job, after which it ends.
const orderEvery = 5 * time.Minute

func newEnding(a *app, st *store.Store, r remains, force bool, quiet time.Duration) *ending {
	return &ending{app: a, store: st, remains: r, force: force, quiet: quiet, show: newProgress(a.streams), order: every{period: orderEvery}}
}

// rest waits until no controller leads, and, where one does and jobs matter, before that until no machine is left.
func (e *ending) rest(ctx context.Context) error {
	var last error
	left := 0
	err := poll(ctx, e.clock, func(ctx context.Context) (bool, error) {
		known, leads, err := e.look(ctx)
		states := ""
		left = 0
		if err == nil && known && e.led && !e.force {
			left, states, err = e.left(ctx)
		}
		if last = err; err != nil {
			if class := awserr.ClassOf(err); class == awserr.Denied || class == awserr.Invalid || errors.Is(err, store.ErrInvalid) {
				return false, err
			}
			e.show.show(storeTrouble("uninstall", err), "")
			return false, nil
		}
		switch {
		case !known || left == 0 && !leads:
			return known, nil
		case left == 0:
			if !e.told {
				e.told = true
				e.show.note("no machine is waited for any more; now stop every controller, or it makes again what is deleted: `systemctl disable --now remuda-controller` on each host, or Hosts=0 for the stack")
			}
			e.show.show("uninstall  waits for the controller to stop: "+e.lease.Holder, "")
		case !leads:
			e.show.show(fmt.Sprintf("uninstall  %d left%s, and no controller leads: start one, or run this again with --force", left, states), "")
		default:
			e.show.show(fmt.Sprintf("uninstall  %d left%s", left, states), "")
		}
		return false, nil
	})
	return undone(withTrouble(err, last), left > 0)
}

// undone adds to what kept machines or controllers from going what became of the rest, and what to do; jobs says that they
// were waited for.
func undone(err error, jobs bool) error {
	switch {
	case err == nil:
		return nil
	case jobs:
		return fmt.Errorf("%w; nothing was deleted: run it again, with --force if jobs may fail", err)
	default:
		return fmt.Errorf("%w; nothing was deleted: run it again", err)
	}
}

// look reports whether a controller leads, by this clock alone: one that does renews the lease, and one that waits takes what
// is given up. known is false until that can be said.
func (e *ending) look(ctx context.Context) (known, leads bool, _ error) {
	l, err := e.store.Lease(ctx)
	if awserr.ClassOf(err) == awserr.NotFound { // without a table none can
		return true, false, nil
	}
	if err != nil {
		e.since = time.Time{} // not seen is not unchanged
		return false, false, err
	}
	now, first := e.clock.Now(), e.since.IsZero()
	if first || l.Version != e.lease.Version {
		e.led = e.led || !first
		e.lease, e.since = l, now
		return !first, !first, nil
	}
	rests := now.Sub(e.since) >= e.quiet
	return rests || e.led, !rests, nil
}

// left orders machines to go while there are any, and counts them: by their records, and then by what EC2 has.
func (e *ending) left(ctx context.Context) (int, string, error) {
	found, err := matching(ctx, e.store, func(in store.Instance) bool { return !in.Gone() })
	if err != nil {
		return 0, "", err
	}
	now := e.clock.Now()
	if len(found) > 0 && e.order.due(now) {
		if err := e.store.OrderDrain(ctx, store.DrainOrder{ID: uuid.NewString(), CreatedAt: store.At(now)}); err != nil {
			e.order.next = time.Time{}
			return 0, "", err
		}
	}
	if len(found) == 0 && !e.drained {
		n, _, err := e.remains.Machines(ctx)
		e.drained = err == nil && n == 0
		return n, "", err
	}
	e.drained = len(found) == 0
	states := map[statemachine.State]int{}
	for _, in := range found {
		states[in.State]++
	}
	return len(found), stateCounts(states), nil
}

// finish ends what machines are left and only then deletes: one that lives may yet write what is deleted.
func (e *ending) finish(ctx context.Context, remove func() error) error {
	if err := e.end(ctx); err != nil {
		return undone(err, false)
	}
	return errors.Join(remove(), e.end(ctx)) // once more: what a controller launched at its end may not have been listed yet
}

// end terminates every machine and waits until EC2 has none.
func (e *ending) end(ctx context.Context) error {
	var last error
	err := poll(ctx, e.clock, func(ctx context.Context) (bool, error) {
		n, up, err := e.remains.Machines(ctx)
		if err == nil && len(up) > 0 {
			err = e.remains.Terminate(ctx, up...)
		}
		if last = err; err != nil && !passing(err) {
			return false, err
		}
		e.show.show(fmt.Sprintf("uninstall  %s to end", plural(n, "machine")), "")
		return err == nil && n == 0, nil
	})
	return withTrouble(err, last)
}

// unled reports a controller that led after all while things were deleted.
func (e *ending) unled(ctx context.Context) error {
	l, err := e.store.Lease(ctx)
	if awserr.ClassOf(err) == awserr.NotFound {
		return nil
	}
	if err == nil && l.Version != e.lease.Version {
		err = fmt.Errorf("controller %s took the lease meanwhile and may have made anew what was deleted: stop it, and run this again", l.Holder)
	}
	return err
}
