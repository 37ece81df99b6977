package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// demands records what requests wanted, one item a day, for `remuda advise`. The statuses show which requests are over, and stay for a
// day. The item shows which requests it has. So a step can be repeated, and a controller that ends between two steps loses no request.
type demands struct {
	*tenure
	cache *cache
	days  map[string]*demandDay // that this controller has read or written
}

// demandDay is the stored item of one day, and the instant from which it may be written again.
type demandDay struct {
	stored store.Demand
	next   time.Time
}

// The controller writes a day once a minute at most. It writes a large day less often, because DynamoDB bills each started kilobyte. So a
// day costs at most ten write units a minute.
const (
	demandPeriod = time.Minute
	demandBytes  = 10_000 // of a day's rows for each period between two writes
)

// record adds the attempts that are over to the items of their days.
func (d *demands) record(ctx context.Context) error {
	now := d.clock.Now()
	days := d.cache.requests.unrecorded(now)
	var errs []error
	for _, day := range slices.Sorted(maps.Keys(days)) {
		err := d.recordDay(ctx, day, days[day], now)
		if errors.Is(err, store.ErrInvalid) { // a retry does not repair the item, and must not delay other days
			d.log.Warn("the demand of a day cannot be read or written, and is left alone; delete its item", logkey.Error, err)
			d.days[day] = &demandDay{next: now.Add(2 * recordLife)} // past its last write
			err = nil
		}
		errs = append(errs, err)
	}
	maps.DeleteFunc(d.days, func(day string, _ *demandDay) bool { return day < firstDemand(now) })
	return errors.Join(errs...)
}

// firstDemand is the first day that is still written. Requests that were over before may have no status any more.
func firstDemand(now time.Time) string { return store.DayOf(now.Add(-recordLife)) }

func (d *demands) recordDay(ctx context.Context, day string, over []store.PastRequest, now time.Time) error {
	is := d.days[day]
	if is == nil {
		stored, err := store.ReadDemand(ctx, d.cache.store, day)
		if err != nil {
			return fmt.Errorf("demand of %s: %w", day, err)
		}
		if len(stored.Dropped) > 0 {
			d.log.Warn("rows of a day's demand dropped: they cannot be read", logkey.Key, store.DemandKey(day), logkey.Detail, strings.Join(stored.Dropped, "; "))
		}
		is = &demandDay{stored: stored}
		d.days[day] = is
	}
	if now.Before(is.next) {
		return nil
	}
	next, has := is.stored.With(over)
	if next.Bytes() != is.stored.Bytes() || next.LeftOut != is.stored.LeftOut {
		var err error
		if next, err = store.WriteDemand(ctx, d.cache.store, next, now); err != nil {
			delete(d.days, day) // what is stored is read again
			return fmt.Errorf("demand of %s: %w", day, err)
		}
	}
	is.stored = next
	is.next = now.Add(demandPeriod * time.Duration(max(1, next.Bytes()/demandBytes)))
	d.cache.requests.recorded(over, has)
	return nil
}

// unrecorded returns the attempts that are over and not known to be in an item, by the day on which they ended.
func (v *requestRecords) unrecorded(now time.Time) map[string][]store.PastRequest {
	v.mu.Lock()
	defer v.mu.Unlock()
	out, first := map[string][]store.PastRequest{}, firstDemand(now)
	old := func(p store.PastRequest) bool { return store.DayOf(p.End()) < first }
	v.replaced = slices.DeleteFunc(v.replaced, old)
	over := slices.Clone(v.replaced)
	for _, r := range v.byID {
		if r.request == nil || r.status == nil || r.request.Attempt != r.status.Attempt || r.demanded >= r.status.Attempt ||
			r.status.Phase != statemachine.PhaseReleased && r.status.Phase != statemachine.Failed {
			continue
		}
		if p, ok := store.PastRequestOf(*r.request, *r.status, time.Time{}); ok && !old(p) {
			over = append(over, p)
			continue
		}
		r.demanded = r.status.Attempt
	}
	for _, p := range over {
		day := store.DayOf(p.End())
		out[day] = append(out[day], p)
	}
	return out
}

// replace keeps what an attempt wanted for the next step. The status of another attempt is about to take its place.
func (v *requestRecords) replace(r run, now time.Time) {
	if r.status == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p, ok := store.PastRequestOf(*r.request, *r.status, now)
	if ok && r.demanded < r.status.Attempt && len(v.replaced) < maxRuns {
		v.replaced = append(v.replaced, p)
	}
	if r := v.byID[r.id]; r != nil {
		r.demanded = 0
	}
}

// recorded marks which of the attempts that are over are in the item of their day.
func (v *requestRecords) recorded(over []store.PastRequest, has map[int64]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	in := func(p store.PastRequest) bool { return has[p.At.UnixNano()] }
	for _, p := range over {
		if r := v.byID[p.ID]; r != nil && in(p) {
			r.demanded = max(r.demanded, p.Attempt)
		}
	}
	v.replaced = slices.DeleteFunc(v.replaced, in)
}
