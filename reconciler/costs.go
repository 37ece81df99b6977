package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/costs"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// Prices says what machines cost. It makes no call and is safe for concurrent use.
type Prices interface {
	// PerHour returns the list price in dollars, and false if that is not known.
	PerHour(usageClass, instanceType, zone string) (dollars float64, known bool)
}

// costKeeper keeps what machines cost, a day an item (package costs). A step counts the time since the item's Through from the
// records, and one conditional write moves Through along: a step that is lost is made again by the one that leads then, and of two
// controllers one has its write refused.
type costKeeper struct {
	*tenure
	cache *cache
	day   *store.Costs // that is counted; nil: to be found
	next  time.Time    // when it may be written again

	before daysBefore // for a budget
	told   budgetNews
}

const (
	costsPeriod  = time.Minute
	costsPerRows = 50              // rows for which it waits one more: they are some ten write units
	costsLag     = 5 * time.Second // so that writes under way have landed: a claim's begins at the clock reading that it tells
	costsGap     = 32              // days that are looked back for the last item
	costsSpoiled = time.Hour       // until an item that could not be read is looked at again
)

// record counts what there is to count by now. An item that cannot be read is repaired by no other look, and found again for as long as
// it is there: once it is deleted, its day is counted from where the one before ended.
func (c *costKeeper) record(ctx context.Context) error {
	now := c.clock.Now()
	if now.Before(c.next) {
		return nil
	}
	err := c.step(ctx, now)
	if errors.Is(err, store.ErrInvalid) {
		c.log.Warn("the costs of a day cannot be read or written; delete its item, and they are counted anew", logkey.Error, err)
		c.day, c.next, err = nil, now.Add(costsSpoiled), nil
	}
	return err
}

func (c *costKeeper) step(ctx context.Context, now time.Time) error {
	until := store.At(now.Add(-costsLag)).Time
	if c.day == nil {
		day, err := c.find(ctx, until)
		if err != nil {
			return err
		}
		c.day = &day
	}
	for c.day.Through.Time.Before(until) {
		if err := c.count(ctx, until, now); err != nil {
			c.day = nil // what is stored is read again
			return err
		}
	}
	if err := c.spend(ctx); err != nil {
		return err
	}
	c.next = now.Add(costsPeriod * time.Duration(1+len(c.day.Rows)/costsPerRows))
	return nil
}

// find returns the last day that was counted; of an installation that has none, one that begins now.
func (c *costKeeper) find(ctx context.Context, now time.Time) (store.Costs, error) {
	for ago := range costsGap {
		day, err := c.read(ctx, now.AddDate(0, 0, -ago))
		if err != nil || day.Version > 0 {
			return day, err
		}
	}
	return store.Costs{Day: store.DayOf(now), Through: store.At(now)}, nil
}

func (c *costKeeper) read(ctx context.Context, at time.Time) (store.Costs, error) {
	day, err := store.ReadCosts(ctx, c.cache.store, store.DayOf(at))
	if err != nil {
		return day, fmt.Errorf("costs of %s: %w", day.Day, err)
	}
	return day, nil
}

// count adds the time until an instant to the day, or what is left of it: then the next one is counted.
func (c *costKeeper) count(ctx context.Context, until, now time.Time) error {
	begin, err := c.day.Begin()
	if err != nil {
		return err
	}
	end := begin.AddDate(0, 0, 1)
	next := *c.day
	next.Rows, next.Through = c.rows(c.day.Rows, c.day.Through.Time, earlier(until, end)), store.At(earlier(until, end))
	if !slices.Equal(next.Rows, c.day.Rows) { // else Through alone would be written, for nothing
		if next, err = store.WriteCosts(ctx, c.cache.store, next, now); err != nil {
			return fmt.Errorf("costs of %s: %w", next.Day, err)
		}
	}
	if next.Through.Time.Before(end) {
		c.day = &next
		return nil
	}
	if next, err = c.read(ctx, end); err != nil {
		return err
	}
	if next.Version == 0 {
		next.Through = store.At(end)
	}
	c.day = &next
	return nil
}

// rows returns what the rows come to with the time between two instants.
func (c *costKeeper) rows(rows []store.CostRow, from, to time.Time) []store.CostRow {
	l := costs.NewLedger(rows)
	for _, r := range c.cache.requests.readyWithin(from, to) {
		l.Ready(*r.request, *r.status)
	}
	whose := c.cache.requests.repositoryByNote()
	c.cache.instances.each(func(in *instance) {
		l.Machine(in.record, from, to, func(run string) string { return whose[run] })
	})
	return l.Rows()
}

// readyWithin returns the requests whose present attempt became ready at or after from and before to.
func (v *requestRecords) readyWithin(from, to time.Time) []run {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []run
	for _, r := range v.byID {
		if r.request != nil && r.status != nil && !r.status.ReadyAt.Time.Before(from) && r.status.ReadyAt.Time.Before(to) {
			out = append(out, *r)
		}
	}
	return out
}

// repositoryByNote returns the repositories of the requests that name one, by the names that histories give those.
func (v *requestRecords) repositoryByNote() map[string]string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make(map[string]string, len(v.byID))
	for id, r := range v.byID {
		if r.request != nil && r.request.Repository != "" {
			out[id.Noted()] = r.request.Repository
		}
	}
	return out
}

// spent returns what the machines of a request have cost since its attempt was taken up.
func (c *cache) spent(st store.RunStatus, until time.Time) store.Spent {
	var machines []store.Instance
	c.instances.each(func(in *instance) {
		if in.record.ChangedAt.After(st.PendingAt.Time) && in.record.History.Mentions(st.ID) {
			machines = append(machines, in.record)
		}
	})
	return costs.OfRun(st.ID, machines, st.PendingAt.Time, until)
}
