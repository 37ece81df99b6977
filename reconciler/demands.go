package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// demands keeps what requests wanted, a day an item, for `remuda advise`. What is over is told by the statuses, which stay for a
// day, and the item tells what it has: so a step is repeated at will, and a controller that ends between any two loses none.
type demands struct {
	*tenure
	cache *cache
	days  map[string]*demandDay // those that were read or written
}

// demandDay is one day's item as it is stored, and when it may be written again.
type demandDay struct {
	stored store.Demand
	next   time.Time
}

// A day is written once a minute at most, and a large one less often: DynamoDB bills each started kilobyte. So it costs ten write
// units a minute at most.
const (
	demandPeriod = time.Minute
	demandBytes  = 10_000 // of a day's entries for which it waits a period
)

// record adds what is over to the items of its days.
func (d *demands) record(ctx context.Context) error {
	now := d.clock.Now()
	days := d.cache.requests.unrecorded(now)
	var errs []error
	for _, day := range slices.Sorted(maps.Keys(days)) {
		err := d.recordDay(ctx, day, days[day], now)
		if errors.Is(err, store.ErrInvalid) { // another look does not repair it, and must not keep other days from being written
			d.log.Warn("the demand of a day cannot be read or written, and is left alone; delete its item", logkey.Error, err)
			d.days[day] = &demandDay{next: now.Add(2 * recordLife)} // past its last write
			err = nil
		}
		errs = append(errs, err)
	}
	maps.DeleteFunc(d.days, func(day string, _ *demandDay) bool { return day < firstDemand(now) })
	return errors.Join(errs...)
}

// firstDemand is the first day that is still written: what was over before may have no status any more.
func firstDemand(now time.Time) string { return store.DayOf(now.Add(-recordLife)) }

func (d *demands) recordDay(ctx context.Context, day string, over []ended, now time.Time) error {
	is := d.days[day]
	if is == nil {
		stored, err := store.ReadDemand(ctx, d.cache.store, day)
		if err != nil {
			return fmt.Errorf("demand of %s: %w", day, err)
		}
		is = &demandDay{stored: stored}
		d.days[day] = is
	}
	if now.Before(is.next) {
		return nil
	}
	list := make([]store.Wanted, 0, len(over))
	for _, w := range over {
		list = append(list, w.Wanted)
	}
	next, in, err := is.stored.With(list)
	if err != nil {
		return fmt.Errorf("demand of %s: %w", day, err)
	}
	if next != is.stored {
		if next, err = store.WriteDemand(ctx, d.cache.store, next, now); err != nil {
			delete(d.days, day) // what is stored is read again
			return fmt.Errorf("demand of %s: %w", day, err)
		}
	}
	is.stored = next
	is.next = now.Add(demandPeriod * time.Duration(max(1, len(next.Entries)/demandBytes)))
	d.cache.requests.recorded(over, in)
	return nil
}

// ended is an attempt that is over, as its day's item tells it.
type ended struct {
	store.Wanted
	id      store.RequestID
	attempt int
}

// unrecorded returns the attempts that are over and in no item yet as far as is known, by the day on which they ended.
func (v *requestRecords) unrecorded(now time.Time) map[string][]ended {
	v.mu.Lock()
	defer v.mu.Unlock()
	out, first := map[string][]ended{}, firstDemand(now)
	old := func(w ended) bool { return store.DayOf(w.End()) < first }
	v.replaced = slices.DeleteFunc(v.replaced, old)
	over := slices.Clone(v.replaced)
	for id, r := range v.byID {
		if r.request == nil || r.status == nil || r.request.Attempt != r.status.Attempt || r.demanded >= r.status.Attempt ||
			r.status.Phase != statemachine.PhaseReleased && r.status.Phase != statemachine.Failed {
			continue
		}
		w, ok := store.WantedOf(*r.request, *r.status, time.Time{})
		if one := (ended{w, id, r.status.Attempt}); ok && !old(one) {
			over = append(over, one)
			continue
		}
		r.demanded = r.status.Attempt
	}
	for _, w := range over {
		day := store.DayOf(w.End())
		out[day] = append(out[day], w)
	}
	return out
}

// replace keeps what an attempt wanted whose status is about to be another's, for the next look.
func (v *requestRecords) replace(r run, now time.Time) {
	if r.status == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	w, ok := store.WantedOf(*r.request, *r.status, now)
	if ok && r.demanded < r.status.Attempt && len(v.replaced) < maxRuns {
		v.replaced = append(v.replaced, ended{w, r.id, r.status.Attempt})
	}
	if r := v.byID[r.id]; r != nil {
		r.demanded = 0
	}
}

// recorded notes which of those that are over are in the item of their day.
func (v *requestRecords) recorded(over []ended, in []store.Wanted) {
	v.mu.Lock()
	defer v.mu.Unlock()
	has := make(map[string]bool, len(in))
	for _, w := range in {
		has[w.ID()] = true
	}
	is := func(w ended) bool { return has[w.ID()] }
	for _, w := range over {
		if r := v.byID[w.id]; r != nil && is(w) {
			r.demanded = max(r.demanded, w.attempt)
		}
	}
	v.replaced = slices.DeleteFunc(v.replaced, is)
}
