package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// fleetSweep compares the fleet with the records.
type fleetSweep struct {
	*tenure
	cache          *cache
	fleet          fleet.Fleet
	adopter        *adopter
	breaker        *breaker
	orphanMachines firstSeen // machines without a record, by id
	incomplete     instant   // since when the fleet's listing lacks too many machines to be believed in that
	swept          instant   // when the two were last compared
}

// sweepFleet compares machines and records, both ways.
func (w *fleetSweep) sweepFleet(ctx context.Context) error {
	machines, err := w.fleet.List(ctx, "")
	if err != nil {
		return fmt.Errorf("list fleet: %w", err)
	}
	now := w.clock.Now()
	seen := make(map[store.InstanceID]fleet.State, len(machines))
	var errs []error
	for _, m := range machines {
		seen[store.InstanceID(m.ID)] = m.State
		if m.State == fleet.Ending || m.State == fleet.Ended {
			w.cache.instances.with(store.InstanceID(m.ID), func(in *instance) { in.machine.reason = m.StateReason })
			continue
		}
		if _, known := w.cache.instances.get(store.InstanceID(m.ID)); !known {
			errs = append(errs, w.reconcileOrphan(ctx, m, now))
		}
	}
	w.orphanMachines.retain(func(id string) bool { return seen[store.InstanceID(id)] != "" })
	w.compare(seen, now)
	w.swept.set(now)
	return errors.Join(errs...)
}

// watch has the fleet compared at once when it says that machines ended, until ctx ends.
func (w *fleetSweep) watch(f fleet.Fleet) func(context.Context) error {
	var ended <-chan struct{}
	if says, ok := f.(fleet.Notifier); ok {
		ended = says.Ended()
	}
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ended:
				w.queues.sweeper.Add(sweepFleet)
			}
		}
	}
}

// compare notes what the fleet says of every record. Absence means gone only after Visibility, on the second listing
// a Sweep later (one listing may lack what lives), and not if too many are absent at once of those that should be there:
// also the young, once they were listed, or a listing that lacks all would cost them one by one as they come of age.
func (w *fleetSweep) compare(seen map[store.InstanceID]fleet.State, now time.Time) {
	due, missing := 0, 0 // listed before, or old enough to be
	var absent, wake []store.InstanceID
	w.cache.instances.eachAlive(func(in *instance) {
		switch seen[in.record.ID] {
		case fleet.Ending, fleet.Ended:
			in.machine.cloud = statemachine.Gone
			wake = append(wake, in.record.ID)
		case fleet.Starting, fleet.Up:
			in.machine.cloud = statemachine.Present
			in.machine.unlistedSince, in.machine.listed = time.Time{}, true
		default:
			in.machine.cloud = statemachine.Unknown
			if in.absent(now, w.cfg) {
				absent = append(absent, in.record.ID)
			}
		}
		if in.machine.listed || in.ofAge(now, w.cfg) {
			due++
			if !in.machine.unlistedSince.IsZero() {
				missing++
			}
		}
	})
	w.incomplete.hold(TooMany(missing, due), now)
	if w.incomplete.is() {
		w.log.Error("too many instances are missing from the fleet's listing at once: none is given up for it", logkey.Count, missing)
		w.cache.instances.eachAlive(func(in *instance) { in.machine.unlistedSince = time.Time{} }) // a listing that is not believed is no first sight
		absent = nil
	}
	for _, id := range absent {
		w.cache.instances.with(id, func(in *instance) { in.machine.cloud = statemachine.Gone })
	}
	for _, id := range slices.Sorted(slices.Values(append(wake, absent...))) {
		w.queues.instances.Add(id)
	}
}

// reconcileOrphan deals with a machine that carries our mark and has no record: adopted if a request it
// was launched for still lives, else terminated after Orphan (H01).
func (w *fleetSweep) reconcileOrphan(ctx context.Context, m fleet.Machine, now time.Time) error {
	l, known := w.cache.launches.launch(m.LaunchToken)
	if known && !l.Done {
		w.queues.launches.Add(l.Token) // its launch deals with it
		return nil
	}
	for _, s := range l.Seats {
		if w.cache.wants(s) {
			return w.adopter.adopt(ctx, m, s.RequestID, s.Attempt)
		}
	}
	if now.Sub(w.orphanMachines.since(m.ID, now)) < w.cfg.Orphan || w.breaker.isOpen() {
		return nil
	}
	if known, err := w.adopter.recorded(ctx, m); known || err != nil {
		return err
	}
	w.log.Warn("terminating an orphan machine: it has no record and no launch that wants it", logkey.InstanceID, m.ID, logkey.Launch, m.LaunchToken)
	if err := w.fleet.Terminate(ctx, m.ID); err != nil {
		return fmt.Errorf("orphan %s: %w", m.ID, err)
	}
	w.recorder.Orphaned(OrphanMachine)
	return nil
}

// checkTemplates notes the version a new machine of each class would get; idle ones of another are dismissed (H56).
func (w *fleetSweep) checkTemplates(ctx context.Context) error {
	classes := w.cfg.classNames()
	versions, err := w.fleet.Templates(ctx, classes...)
	for _, class := range classes {
		if version, known := versions[class]; known {
			w.cache.templateIs(class, version)
		}
	}
	if err != nil {
		return fmt.Errorf("read templates: %w", err)
	}
	return nil
}

// absent notes that a listing lacks the instance, and reports whether that means that it is gone.
func (in *instance) absent(now time.Time, cfg Config) bool {
	if in.machine.unlistedSince.IsZero() {
		in.machine.unlistedSince = now
	}
	return in.ofAge(now, cfg) && now.Sub(in.machine.unlistedSince) >= cfg.Sweep
}

// ofAge reports whether a listing must show the instance.
func (in *instance) ofAge(now time.Time, cfg Config) bool {
	return now.Sub(in.record.CreatedAt.Time) >= cfg.Limits.Visibility
}
