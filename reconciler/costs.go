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
	day    *store.Costs // the day that is being counted; nil: not read yet
	next   time.Time    // when the next write may begin
	logged string       // the dropped rows that were logged last

	unpriced []string // recorded days with hours that have no price; nil: not read yet
	before   daysBefore
	told     budgetNews
}

const (
	costsPeriod  = time.Minute
	costsPerRows = 50               // each batch of so many rows (about ten write units) adds one period
	costsLag     = 5 * time.Second  // lets the writes of the previous leader land
	costsGap     = 32               // how many days before now the last item is searched
	costsCall    = 10 * time.Second // for all calls of one step, since the table may refuse an item for hours
)

// record counts the costs up to now. If an item is invalid, the cost of the month is unknown until an operator deletes the item. The next
// step reads the item again.
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

// begin reads the cost of the month before the first decision. If the read fails, the last known value applies.
func (c *costKeeper) begin(ctx context.Context) error {
	err := c.step(ctx, c.clock.Now(), false)
	c.day = nil // the counted day is not written
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
	return "delete the item; the controller then counts the last day again from the records, and an earlier day costs nothing: " + err.Error()
}

// step counts the costs up to now. The budget gets the sum before the table does, so that a refused write hides no cost.
func (c *costKeeper) step(ctx context.Context, now time.Time, write bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, costsCall, errors.New("timeout while reading or writing the costs"))
	defer cancel()
	until := store.At(c.cache.counting.advance(now.Add(-costsLag), now)).Time
	if c.day == nil {
		day, err := c.find(ctx, until)
		if err != nil {
			return err
		}
		c.day = &day
	}
	settled := c.settle(ctx, now, write) // an earlier day with an error must not block later days
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
			c.day = nil // read the stored day again
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

// find returns the last counted day, or a day that begins now if no day was ever counted. If an earlier day is invalid, find returns the
// day after it, counted from its start.
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

// tellDropped logs the rows that were dropped when the day was read.
func (c *costKeeper) tellDropped(day store.Costs) {
	if text := day.Day + ": " + strings.Join(day.Dropped, "; "); len(day.Dropped) > 0 && text != c.logged {
		c.logged = text
		c.log.Warn("invalid rows of a day's costs dropped; the recorded cost of the day is too low",
			logkey.Key, store.CostsKey(day.Day), logkey.Count, len(day.Dropped), logkey.Detail, text)
	}
}

// counted returns the day with the costs until the given time added, and whether the day is over.
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

// write stores the day if it has changed. If the day is over, write continues with the next day.
func (c *costKeeper) write(ctx context.Context, day store.Costs, over bool, now time.Time) error {
	if !slices.Equal(day.Rows, c.day.Rows) || !slices.Equal(day.Unpriced, c.day.Unpriced) { // do not write only to advance Through
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

// rows returns the day with the costs between from and to added.
func (c *costKeeper) rows(day store.Costs, from, to time.Time) store.Costs {
	l := costs.Resume(day, c.cfg.priceOf())
	for _, r := range c.cache.requests.readyWithin(from, to) {
		l.Ready(*r.request, *r.status)
	}
	whose := c.cache.requests.repositoryByNote()
	var lived []store.Instance
	c.cache.instances.each(func(in *instance) { // each holds a lock that all workers need, so sum up outside
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

// settle adds dollars to earlier recorded days as soon as their missing prices are known.
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
	recorded, err := store.ReadCostsOf(ctx, c.cache.store, func(store.Key, error) {}, days...) // spend reports unreadable days
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
		c.before.day = "" // the total of the earlier days has changed
	}
	c.unpriced = left
	return nil
}

// priceOf returns the list prices in effect, or nil if costs in dollars are switched off.
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
