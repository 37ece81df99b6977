package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/costs"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
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
	cache  *cache
	day    *store.Costs // that is counted; nil: to be found
	next   time.Time    // when it may be written again
	logged string       // the rows that were dropped last

	unpriced []string // recorded days that have times without a price; nil: to be found
	before   daysBefore
	told     budgetNews
}

const (
	costsPeriod  = time.Minute
	costsPerRows = 50               // rows for which it waits one more: they are some ten write units
	costsLag     = 5 * time.Second  // so that writes of the last leader have landed
	costsGap     = 32               // days that are looked back for the last item
	costsCall    = 10 * time.Second // for the calls of one step: the table may refuse one item for as long as it likes
)

// record counts what there is to count by now. An item that cannot be read makes the month's cost unknown until the item is deleted.
// The next step finds that out.
func (c *costKeeper) record(ctx context.Context) error {
	now := c.clock.Now()
	if now.Before(c.next) {
		return nil
	}
	err := c.step(ctx, now, true)
	if errors.Is(err, store.ErrInvalid) {
		c.lose(unreadableCosts(err))
		c.day, c.next, err = nil, now.Add(costsPeriod), nil
	}
	return err
}

// begin finds out what the month has cost before the first decision. If the table does not say so, the last known value applies.
func (c *costKeeper) begin(ctx context.Context) error {
	err := c.step(ctx, c.clock.Now(), false)
	c.day = nil // what was counted is not written
	if err != nil && (errors.Is(err, store.ErrInvalid) || c.cache.budget.knew()) {
		c.lose(unreadableCosts(err))
		return nil
	}
	return err
}

func unreadableCosts(err error) string {
	if !errors.Is(err, store.ErrInvalid) {
		return "read the costs of the month: " + err.Error()
	}
	return "delete the item, and its day is counted again as far as the records reach: " + err.Error()
}

// step counts until now. The budget learns the sum before the sum is written, so that a refused write hides no cost.
func (c *costKeeper) step(ctx context.Context, now time.Time, write bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, costsCall, errors.New("the costs were not read or written in time"))
	defer cancel()
	until := store.At(c.cache.counting.advance(now.Add(-costsLag), now)).Time
	if c.day == nil {
		day, err := c.find(ctx, until)
		if err != nil {
			return err
		}
		c.day = &day
	}
	settled := c.settle(ctx, now, write) // an earlier day that cannot be read or written holds up no later one
	for {
		day, over, err := c.counted(*c.day, until)
		if err != nil {
			return err
		}
		spent := errors.Join(settled, c.spend(ctx, day))
		if !write {
			return spent
		}
		if err := c.write(ctx, day, over, now); err != nil {
			c.day = nil // what is stored is read again
			return errors.Join(err, spent)
		}
		if spent != nil {
			return spent
		}
		if !over {
			break
		}
	}
	c.next = now.Add(costsPeriod * time.Duration(1+len(c.day.Rows)/costsPerRows))
	return nil
}

// find returns the last day that was counted; of an installation that has none, one that begins now. A day before now that cannot be
// read is over, and the next day is counted from its begin.
func (c *costKeeper) find(ctx context.Context, now time.Time) (store.Costs, error) {
	next := store.Costs{Day: store.DayOf(now), Through: store.At(now)}
	for ago := range costsGap {
		day, err := c.read(ctx, now.AddDate(0, 0, -ago))
		if ago > 0 && errors.Is(err, store.ErrInvalid) {
			begin, err := next.Begin()
			next.Through = store.At(begin)
			return next, err
		}
		if err != nil || day.Version > 0 {
			return day, err
		}
		next.Day = day.Day
	}
	return store.Costs{Day: store.DayOf(now), Through: store.At(now)}, nil
}

func (c *costKeeper) read(ctx context.Context, at time.Time) (store.Costs, error) {
	day, err := store.ReadCosts(ctx, c.cache.store, store.DayOf(at))
	if err != nil {
		return day, fmt.Errorf("costs of %s: %w", day.Day, err)
	}
	c.tellDropped(day)
	return day, nil
}

// tellDropped logs the rows that reading a day has just dropped.
func (c *costKeeper) tellDropped(day store.Costs) {
	if text := day.Day + ": " + strings.Join(day.Dropped, "; "); len(day.Dropped) > 0 && text != c.logged {
		c.logged = text
		c.log.Warn("rows of a day's costs dropped: they cannot be read; the day cost more than its other rows say",
			logkey.Key, store.CostsKey(day.Day), logkey.Count, len(day.Dropped), logkey.Detail, text)
	}
}

// counted returns a day with the time until an instant, and whether the day is over then.
func (c *costKeeper) counted(day store.Costs, until time.Time) (out store.Costs, over bool, err error) {
	begin, err := day.Begin()
	if err != nil {
		return day, false, err
	}
	end := begin.AddDate(0, 0, 1)
	from := earlier(later(begin, day.Through.Time), end)
	to := later(from, earlier(until, end))
	out, out.Through = c.rows(day, from, to), store.At(to)
	return out, !to.Before(end), nil
}

// write stores a day if it has changed, and goes on with the next day if this one is over.
func (c *costKeeper) write(ctx context.Context, day store.Costs, over bool, now time.Time) error {
	if !slices.Equal(day.Rows, c.day.Rows) || !slices.Equal(day.Unpriced, c.day.Unpriced) { // else Through alone would be written, for nothing
		var err error
		if day, err = store.WriteCosts(ctx, c.cache.store, day, now); err != nil {
			return fmt.Errorf("costs of %s: %w", day.Day, err)
		}
	}
	if over {
		end := day.Through
		if len(day.Unpriced) > 0 && !slices.Contains(c.unpriced, day.Day) {
			c.unpriced = append(c.unpriced, day.Day)
		}
		next, err := c.read(ctx, end.Time)
		if err != nil {
			return err
		}
		if day = next; day.Version == 0 {
			day.Through = end
		}
	}
	c.day = &day
	return nil
}

// rows returns a day with the time between two instants.
func (c *costKeeper) rows(day store.Costs, from, to time.Time) store.Costs {
	l := costs.Resume(day, c.cfg.priceOf())
	for _, r := range c.cache.requests.readyWithin(from, to) {
		l.Ready(*r.request, *r.status)
	}
	whose := c.cache.requests.repositoryByNote()
	var lived []store.Instance
	c.cache.instances.each(func(in *instance) { // under a lock that all wait for, so nothing is added up there
		if in.record.State != statemachine.Terminated || in.record.ChangedAt.After(from) {
			lived = append(lived, in.record)
		}
	})
	for _, in := range lived {
		l.Machine(in, from, to, func(run string) string { return whose[run] })
	}
	day.Rows, day.Unpriced = l.Rows(), l.Unpriced()
	return day
}

// settle adds dollars to the recorded days before the one that is counted, as soon as their missing prices are known.
func (c *costKeeper) settle(ctx context.Context, now time.Time, write bool) error {
	if c.cfg.Prices == nil || !write {
		return nil
	}
	begin, err := c.day.Begin()
	if err != nil {
		return err
	}
	days := c.unpriced
	if days == nil {
		days = store.DaysOf(begin.AddDate(0, 0, -costsGap), begin.AddDate(0, 0, -1))
	} else if len(days) == 0 {
		return nil
	}
	recorded, err := store.ReadCostsOf(ctx, c.cache.store, func(store.Key, error) {}, days...) // spend reports what cannot be read
	if err != nil {
		return err
	}
	left := []string{}
	for _, day := range recorded {
		l := costs.Resume(day, c.cfg.priceOf())
		settled := day
		settled.Rows, settled.Unpriced = l.Rows(), l.Unpriced()
		if len(settled.Unpriced) > 0 {
			left = append(left, day.Day)
		}
		if slices.Equal(settled.Unpriced, day.Unpriced) {
			continue
		}
		if _, err := store.WriteCosts(ctx, c.cache.store, settled, now); err != nil {
			return fmt.Errorf("costs of %s: %w", day.Day, err)
		}
		c.before.day = "" // it has other dollars now
	}
	c.unpriced = left
	return nil
}

// priceOf returns the list prices that are in force; nil: costs in dollars are switched off.
func (c Config) priceOf() costs.PriceOf {
	if c.Prices == nil {
		return nil
	}
	return c.Prices.PerHour
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
	machines := c.instances.servedBy(st.ID)
	for i, in := range machines {
		machines[i].Price = costs.Price(in, c.cfg.priceOf())
	}
	return costs.OfRun(st.ID, machines, st.PendingAt.Time, until)
}
