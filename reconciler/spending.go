package reconciler

import (
	"context"
	"errors"
	"fmt"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// spend gives the budget the cost of the month: the earlier days plus the given day so far. If a day is unreadable or a price is missing,
// the cost of the month is unknown.
func (c *costKeeper) spend(ctx context.Context, day store.Costs) error {
	if c.cfg.Budget.Monthly == 0 {
		return nil
	}
	if c.before.day != day.Day {
		before, err := c.readBefore(ctx, day)
		if err != nil {
			return err
		}
		c.before = before
	}
	sum := monthCost{month: day.Day[:len("2006-01")], dollars: c.before.dollars + day.Dollars(), asOf: c.clock.Now()}
	if last := c.cache.budget.spent(); c.before.lost+day.Lost > 0 && last.month == sum.month {
		sum.dollars = max(sum.dollars, last.dollars) // the dropped rows cost something, too
	}
	missing := day.Unpriced
	if len(missing) == 0 {
		missing = c.before.unpriced
	}
	switch {
	case c.before.problem != nil:
		c.cache.budget.foundAtLeast(sum)
		c.before.day = "" // read the earlier days again
		return c.before.problem
	case len(missing) > 0:
		c.cache.budget.foundAtLeast(sum)
		u := missing[0]
		c.lose(fmt.Sprintf("costs.prices has no price for %s (%s, %s); add it, or wait until prices are read", u.Type, u.Usage, u.Zone))
	default:
		c.apply(sum)
	}
	return nil
}

// daysBefore is what the days of a month before one of its days have cost.
type daysBefore struct {
	day      string // "": not read yet
	dollars  float64
	lost     int                  // the number of dropped rows
	unpriced []store.UnpricedTime // the first entries without a price
	problem  error                // why a day is unreadable
}

func (c *costKeeper) readBefore(ctx context.Context, day store.Costs) (daysBefore, error) {
	out := daysBefore{day: day.Day}
	end, err := day.Begin()
	if err != nil {
		return out, err
	}
	bad := func(k store.Key, err error) {
		if !errors.Is(err, store.ErrRow) {
			out.problem = fmt.Errorf("%s: %w", k, err)
		}
	}
	days, err := store.ReadCostsOf(ctx, c.cache.store, bad, store.DaysOf(end.AddDate(0, 0, 1-end.Day()), end.AddDate(0, 0, -1))...)
	for _, d := range days {
		c.tellDropped(d)
		out.dollars, out.lost = out.dollars+d.Dollars(), out.lost+d.Lost
		if len(out.unpriced) == 0 {
			out.unpriced = d.Unpriced
		}
	}
	return out, err
}

// budgetNews is what is told of a budget when it changes.
type budgetNews struct {
	warns   bool
	off     degraded
	unknown string
}

// apply stores the cost of a month.
func (c *costKeeper) apply(cost monthCost) {
	c.cache.budget.counted.Store(&cost)
	c.tell()
}

// lose records that the cost of the month is unknown, and why.
func (c *costKeeper) lose(why string) {
	b := c.cache.budget
	if b.cfg.Budget.Monthly == 0 {
		if why != c.told.unknown {
			c.told.unknown = why
			c.log.Warn("the costs of a day cannot be read or written", logkey.Detail, why)
		}
		return
	}
	last := b.spent()
	if last.unknown.IsZero() {
		last.unknown = b.clock.Now()
	}
	last.why = store.Head(why, maxOutageText)
	b.counted.Store(&last)
	c.tell()
}

// tell logs changes of the budget, and reconsiders the options that are off.
func (c *costKeeper) tell() {
	b := c.cache.budget
	is := budgetNews{b.warns(), b.off(), b.spent().why}
	if is == c.told {
		return
	}
	switch {
	case is.unknown != "":
		c.log.Warn("cost of the month unknown: the last known value applies, and no budget step starts or ends", logkey.Detail, b.health().Text())
	case is.off != degraded{}:
		c.log.Warn("the month's budget is used so far that something is off", logkey.Detail, b.text()+"; off: "+is.off.String())
	case is.warns:
		c.log.Warn("the month's budget will be used up soon", logkey.Detail, b.text())
	default:
		c.log.Info("the month's budget leaves everything on", logkey.Detail, b.text())
	}
	if is.off != c.told.off {
		c.cache.reconsider()
	}
	c.told = is
}

// reconsider looks again at all that waits, and at the floors: more or less may be launched than before.
func (c *cache) reconsider() {
	c.lookAtFloors()
	c.capacity.freed()
	for _, id := range c.unfinished() {
		c.queues.requests.Add(id)
	}
}
