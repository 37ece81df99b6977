package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Budget is what machines may cost in a month, in UTC, and what is off once so much of it is used. The zero value bounds nothing.
type Budget struct {
	Monthly float64       // dollars, by list prices; 0: no budget
	WarnAt  float64       // share of it from which it is told; 0: never
	Degrade []Degradation // in any order
}

// Degradation is what is off from a share of the budget on, until the month ends.
type Degradation struct {
	At float64 // share, more than 0
	Do Degrade
	To int // with DegradeCaps: instances that may live at once
}

// Degrade is what may be off.
type Degrade string

// What may be off. Nothing that runs is ended for it.
const (
	DegradeFloors   Degrade = "floors"    // no machine is kept idle for a floor
	DegradeOnDemand Degrade = "on-demand" // no on-demand instance is launched
	DegradeCaps     Degrade = "caps"      // fewer instances may live at once
)

// Degrades lists what may be off.
func Degrades() []Degrade { return []Degrade{DegradeFloors, DegradeOnDemand, DegradeCaps} }

// degraded is what is off; the zero value: nothing.
type degraded struct {
	floors, onDemand, capped bool
	cap                      int // where capped: instances that may live at once
}

// after returns what is off once so many dollars are spent.
func (b Budget) after(dollars float64) (out degraded) {
	for _, d := range b.Degrade {
		if b.Monthly == 0 || dollars < d.At*b.Monthly {
			continue
		}
		switch d.Do {
		case DegradeFloors:
			out.floors = true
		case DegradeOnDemand:
			out.onDemand = true
		case DegradeCaps:
			if !out.capped || d.To < out.cap {
				out.capped, out.cap = true, d.To
			}
		}
	}
	return out
}

// String says what is off, for people; "" for nothing.
func (d degraded) String() string {
	var off []string
	if d.floors {
		off = append(off, string(DegradeFloors))
	}
	if d.onDemand {
		off = append(off, string(DegradeOnDemand))
	}
	if d.capped {
		off = append(off, fmt.Sprintf("more than %d instances", d.cap))
	}
	return strings.Join(off, ", ")
}

// keeps reports whether a floor may keep machines.
func (d degraded) keeps(f Floor) bool {
	return !d.floors && (!d.onDemand || slices.Contains(f.UsageClasses, store.Spot))
}

// budget knows what the month has cost so far, as costKeeper tells it, and what is off for it.
type budget struct {
	*tenure
	counted atomic.Pointer[monthCost] // nil: nothing yet
}

// monthCost is the cost of a month. While the cost is unknown, dollars holds the last known value and no budget step starts or ends. This
// holds across the end of a month, too.
type monthCost struct {
	month   string // 2026-01
	dollars float64
	asOf    time.Time // when the cost was last known; zero: never to this controller
	unknown time.Time // since when the cost is unknown; zero: the cost is known
	why     string
	taken   bool // the value comes from the previous leader
}

// costsStale is how long the last sum counts as known. The controller counts every five minutes or more often.
const costsStale = 10 * time.Minute

// take starts with the last value of the previous leader. The cost stays unknown until this controller has read it.
func (b *budget) take(last store.Budget) {
	now := b.clock.Now()
	cost := monthCost{month: store.MonthOf(now), unknown: now, why: "the costs of the month are being read"}
	if last.Month != "" {
		cost.month, cost.dollars, cost.taken = last.Month, last.Spent, true
	}
	if !last.UnknownSince.IsZero() {
		cost.unknown = last.UnknownSince.Time
	}
	b.counted.Store(&cost)
}

// knew reports whether this controller or the previous leader ever knew the cost.
func (b *budget) knew() bool {
	c := b.counted.Load()
	return c != nil && (c.taken || !c.asOf.IsZero())
}

// foundAtLeast stores a part of the sum as the last known value, if no other value is known.
func (b *budget) foundAtLeast(part monthCost) {
	if c := b.counted.Load(); c == nil || !b.knew() {
		part.unknown, part.why = b.clock.Now(), "the costs of the month are being read"
		b.counted.Store(&part)
	}
}

// spent returns the cost of this month, or the last known cost.
func (b *budget) spent() monthCost {
	now := b.clock.Now()
	this := store.MonthOf(now)
	c := b.counted.Load()
	if c == nil {
		return monthCost{month: this}
	}
	out := *c
	if !out.unknown.IsZero() {
		return out
	}
	staleAt := out.asOf.Add(costsStale)
	if out.month != this && store.MonthOf(staleAt) != out.month {
		out.month, out.dollars = this, 0 // the month began while the cost was known
	}
	if now.After(staleAt) {
		out.unknown, out.why = out.asOf, "the costs are not counted; check the log for errors of the sweeper"
	}
	return out
}

// off is what is off now.
func (b *budget) off() degraded { return b.cfg.Budget.after(b.spent().dollars) }

// most is how many instances may live at once now.
func (b *budget) most() int {
	if off := b.off(); off.capped {
		return min(b.cfg.MaxInstances, off.cap)
	}
	return b.cfg.MaxInstances
}

// warns reports whether so much is used that it is told.
func (b *budget) warns() bool {
	of := b.cfg.Budget
	return of.WarnAt > 0 && of.Monthly > 0 && b.spent().dollars >= of.WarnAt*of.Monthly
}

// text says how much is used.
func (b *budget) text() string {
	is, of := b.spent(), b.cfg.Budget.Monthly
	return fmt.Sprintf("%.0f %% of the budget of %s is used ($%.2f of $%.2f, by list prices)", 100*is.dollars/of, is.month, is.dollars, of)
}

// forbids says why a request can be given nothing more this month; "" if it can.
func (b *budget) forbids(r store.RunRequest) string {
	off := b.off()
	switch {
	case off.onDemand && !slices.Contains(r.UsageClasses, store.Spot):
		return "on-demand instances are off, and it allows no others: " + b.text()
	case off.capped && r.Count > off.cap:
		return fmt.Sprintf("at most %d instances may live at once, and it asks for %d: %s", off.cap, r.Count, b.text())
	}
	return ""
}

// health is what the lease tells of it; nothing without a budget.
func (b *budget) health() store.Budget {
	of, is := b.cfg.Budget, b.spent()
	if of.Monthly == 0 {
		return store.Budget{}
	}
	return store.Budget{
		Month: is.month, Monthly: of.Monthly, Spent: is.dollars, Warns: b.warns(), Off: b.off().String(),
		UnknownSince: store.At(is.unknown), Unknown: is.why,
	}
}
