package reconciler

import (
	"context"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// spend tells the budget what the month has cost: the days before the one that is counted, and that one so far. A day that cannot be
// read costs nothing.
func (c *costKeeper) spend(ctx context.Context) error {
	if c.cfg.Budget.Monthly == 0 {
		return nil
	}
	if c.before.day != c.day.Day {
		end, err := c.day.Begin()
		if err != nil {
			return err
		}
		days := store.DaysOf(end.AddDate(0, 0, 1-end.Day()), end.AddDate(0, 0, -1))
		before, err := store.ReadCostsOf(ctx, c.cache.store, func(k store.Key, err error) {
			c.log.Warn("the costs of a day cannot be read, and count for nothing in the month's budget", logkey.Key, k, logkey.Error, err)
		}, days...)
		if err != nil {
			return err
		}
		c.before = daysBefore{day: c.day.Day}
		for _, d := range before {
			c.before.dollars += d.Dollars()
		}
	}
	c.apply(monthCost{c.day.Day[:len("2006-01")], c.before.dollars + c.day.Dollars()})
	return nil
}

// daysBefore is what the days of a month before one of its days have cost.
type daysBefore struct {
	day     string // "": not read yet
	dollars float64
}

// budgetNews is what is told of a budget when it changes.
type budgetNews struct {
	warns bool
	off   degraded
}

// apply takes over what a month has cost. What is off since then, or is not any more, is told and looked at.
func (c *costKeeper) apply(cost monthCost) {
	b := c.cache.budget
	b.counted.Store(&cost)
	is := budgetNews{b.warns(), b.off()}
	if is == c.told {
		return
	}
	switch {
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
