package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// sweepers is how many periodic tasks are carried out at once: each, so that GitHub's listing, page by page, delays no look
// at the fleet.
const sweepers = 4

// Keys of the sweeper: periodic tasks, each failing alone (H53).
const (
	sweepFleet    = "fleet"
	sweepRunners  = "runners"
	sweepTemplate = "template"
	sweepRecords  = "records"
)

// sweep carries out one periodic task and says when it is due again.
func (t *term) sweep(ctx context.Context, key string) (Result, error) {
	switch key {
	case sweepFleet:
		return Result{After: t.cfg.Sweep}, t.sweepFleet(ctx)
	case sweepRunners:
		return Result{After: t.cfg.Runners}, t.sweepRunners(ctx)
	case sweepTemplate:
		return Result{After: t.cfg.Sweep}, t.checkTemplate(ctx)
	case sweepRecords:
		return Result{After: t.cfg.Scan}, t.scan(ctx)
	}
	return Result{}, fmt.Errorf("sweep %q: %w", key, store.ErrInvalid)
}

// sweepFleet compares machines and records, both ways.
func (t *term) sweepFleet(ctx context.Context) error {
	machines, err := t.fleet.List(ctx, "")
	if err != nil {
		return fmt.Errorf("list fleet: %w", err)
	}
	now := t.clock.Now()
	seen := make(map[store.InstanceID]fleet.State, len(machines))
	var errs []error
	for _, m := range machines {
		seen[store.InstanceID(m.ID)] = m.State
		if m.State == fleet.Ending || m.State == fleet.Ended {
			continue
		}
		if _, known := t.view.get(store.InstanceID(m.ID)); !known {
			errs = append(errs, t.foundling(ctx, m, now))
		}
	}
	t.orphans.keep(func(id string) bool { return seen[store.InstanceID(id)] != "" })
	t.compare(seen, now)
	return errors.Join(errs...)
}

// compare notes what the fleet says of every record. Absence means gone only after Visibility, on the second listing
// a Sweep later (one listing may lack what lives), and not if too many are absent at once of those that should be there:
// also the young, once they were listed, or a listing that lacks all would cost them one by one as they come of age.
func (t *term) compare(seen map[store.InstanceID]fleet.State, now time.Time) {
	due, missing := 0, 0 // listed before, or old enough to be
	var absent, wake []store.InstanceID
	t.view.eachAlive(func(in *instance) {
		in.vitals.cloudAt = now
		switch seen[in.record.ID] {
		case fleet.Ending, fleet.Ended:
			in.vitals.cloud = statemachine.Gone
			wake = append(wake, in.record.ID)
		case fleet.Starting, fleet.Up:
			in.vitals.cloud = statemachine.Present
			in.missing, in.listed = time.Time{}, true
		default:
			in.vitals.cloud = statemachine.Unknown
			if in.absent(now, t.cfg) {
				absent = append(absent, in.record.ID)
			}
		}
		if in.listed || in.ofAge(now, t.cfg) {
			due++
			if !in.missing.IsZero() {
				missing++
			}
		}
	})
	t.lacking.Store(Braked(missing, due))
	if t.lacking.Load() {
		t.log.Error("too many instances are missing from the fleet's listing at once: none is given up for it", logkey.Count, missing)
		t.view.eachAlive(func(in *instance) { in.missing = time.Time{} }) // a listing that is not believed is no first sight
		absent = nil
	}
	for _, id := range absent {
		t.view.with(id, func(in *instance) { in.vitals.cloud = statemachine.Gone })
	}
	for _, id := range slices.Sorted(slices.Values(append(wake, absent...))) {
		t.instances.add(id)
	}
}

// absent notes that a listing lacks the instance, and reports whether that means that it is gone.
func (in *instance) absent(now time.Time, cfg Config) bool {
	if in.missing.IsZero() {
		in.missing = now
	}
	return in.ofAge(now, cfg) && now.Sub(in.missing) >= cfg.Sweep
}

// ofAge reports whether a listing must show the instance.
func (in *instance) ofAge(now time.Time, cfg Config) bool {
	return now.Sub(in.record.CreatedAt.Time) >= cfg.Limits.Visibility
}

// foundling deals with a machine that carries our mark and has no record: adopted if a request it
// was launched for still lives, else terminated after Orphan (H01).
func (t *term) foundling(ctx context.Context, m fleet.Machine, now time.Time) error {
	l, known := t.view.launch(m.LaunchToken)
	if known && !l.Done {
		t.launches.add(l.Token) // its launch deals with it
		return nil
	}
	for _, s := range l.Seats {
		if t.view.alive(s.RequestID, s.Attempt) {
			return t.adopt(ctx, m, s.RequestID, s.Attempt)
		}
	}
	if now.Sub(t.orphans.first(m.ID, now)) < t.cfg.Orphan || t.braked() {
		return nil
	}
	if known, err := t.recorded(ctx, m); known || err != nil {
		return err
	}
	t.log.Warn("terminating a machine nobody knows", logkey.InstanceID, m.ID, logkey.Launch, m.LaunchToken)
	if err := t.fleet.Terminate(ctx, m.ID); err != nil {
		return fmt.Errorf("orphan %s: %w", m.ID, err)
	}
	return nil
}

// recorded reads whether a machine that the view lacks has a record all the same: the last leader's, whose write came
// late, or one that cannot be decoded. The machine of such a one is somebody's, and is not ended for what we cannot
// read: its agent ends it in time.
func (t *term) recorded(ctx context.Context, m fleet.Machine) (bool, error) {
	rec, err := t.store.Instance(ctx, store.Consistent, store.Principal(m.Principal))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case errors.Is(err, store.ErrInvalid):
		t.badRecord(store.InstanceKey(store.Principal(m.Principal), store.KindInstance), err)
		return true, nil
	case err != nil:
		return false, fmt.Errorf("machine %s: %w", m.ID, err)
	}
	t.view.apply(rec)
	t.instances.add(rec.ID)
	return true, nil
}

// sightings remembers since when something without an owner was seen. Only one key of the sweeper uses it, and no key is
// looked at twice at once.
type sightings map[string]time.Time

func (s sightings) first(id string, now time.Time) time.Time {
	at, ok := s[id]
	if !ok {
		s[id] = now
		return now
	}
	return at
}

func (s sightings) keep(wanted func(string) bool) {
	for id := range s {
		if !wanted(id) {
			delete(s, id)
		}
	}
}

// sweepRunners deletes the runners of ours at GitHub that are offline and without an owner, on a second sight long after
// the first, which may be of a registration in the making, unless the machine is gone. The sweep itself may be repeated
// within seconds, for an error.
func (t *term) sweepRunners(ctx context.Context) error {
	runners, err := t.github.Runners(ctx)
	if err != nil {
		return fmt.Errorf("list runners: %w", err)
	}
	now := t.clock.Now()
	present := map[string]bool{}
	var errs []error
	for _, r := range runners {
		present[r.Name] = true
		if r.Online || !t.ownerless(r.Name) {
			delete(t.strays, r.Name)
			continue
		}
		if now.Sub(t.strays.first(r.Name, now)) < t.cfg.Runners/2 && !t.buried(r.Name) {
			continue
		}
		if err := t.github.DeleteRunner(ctx, r.ID); err != nil && !errors.Is(err, githubapi.ErrBusy) {
			errs = append(errs, fmt.Errorf("delete runner %s: %w", r.Name, err))
			continue
		}
		t.log.Info("deleted a runner without an owner", logkey.Runner, r.Name)
	}
	t.strays.keep(func(name string) bool { return present[name] })
	return errors.Join(errs...)
}

// ownerless reports whether a runner is of one of our instances, which no longer uses it.
func (t *term) ownerless(name string) bool {
	s, known := t.ownerOf(name)
	if !known {
		return false // not ours, or forgotten: GitHub prunes it
	}
	return !s.State.Owned() || !strings.EqualFold(name, s.Registration.Name) || s.Registration.Assignment != s.Assignment
}

// buried reports whether a runner is of a machine that is certainly gone: nothing can change that until a second look,
// which a controller that dies often does not live to.
func (t *term) buried(name string) bool {
	s, known := t.ownerOf(name)
	return known && s.State == statemachine.Terminated && !s.ExpiresAt.IsZero()
}

// ownerOf returns the instance that a runner was made for, by the runner's name.
func (t *term) ownerOf(name string) (snapshot, bool) {
	id, ours := InstanceOf(name)
	if !ours {
		return snapshot{}, false
	}
	return t.view.get(id)
}

// checkTemplate notes the version a new machine would get; idle ones of another are dismissed (H56).
func (t *term) checkTemplate(ctx context.Context) error {
	version, err := t.fleet.Template(ctx)
	if err != nil {
		return fmt.Errorf("read template: %w", err)
	}
	t.templateIs(version)
	return nil
}

// templateIs notes that the fleet has just told the version that a new machine would get.
func (t *term) templateIs(version string) {
	t.view.mu.Lock()
	changed := t.view.template != version
	t.view.template = version
	t.view.mu.Unlock()
	if changed {
		t.wakeAll(func(in *instance) bool { return in.record.State == statemachine.Idle })
	}
}

// wakeAll adds every instance that matches.
func (t *term) wakeAll(match func(*instance) bool) {
	var ids []store.InstanceID
	t.view.each(func(in *instance) {
		if match(in) {
			ids = append(ids, in.record.ID)
		}
	})
	slices.Sort(ids) // a map has no order; with one, the same events have the same consequences
	for _, id := range ids {
		t.instances.add(id)
	}
}
