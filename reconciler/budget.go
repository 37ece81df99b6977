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

// monthCost is what a month has cost: known, or unknown since an instant. While it is unknown, dollars is the last known value, which
// applies also if another month has begun: no step starts or ends.
type monthCost struct {
	month   string // 2026-01
	dollars float64
	asOf    time.Time // when it was last known; zero: it was not known to this controller
	unknown time.Time // zero: it is known
	why     string
	taken   bool // from the last leader
}

// costsStale is how long the last sum counts as known. A step is due every five minutes at least.
const costsStale = 10 * time.Minute

// take begins with what the last leader knew. This controller does not know it yet.
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

// knew reports whether a value was known ever, to this controller or to the last leader.
func (b *budget) knew() bool {
	c := b.counted.Load()
	return c != nil && (c.taken || !c.asOf.IsZero())
}

// foundAtLeast takes a part of the sum as the last known value, if there is no other.
func (b *budget) foundAtLeast(part monthCost) {
	if c := b.counted.Load(); c == nil || !b.knew() {
		part.unknown, part.why = b.clock.Now(), "the costs of the month are being read"
		b.counted.Store(&part)
	}
}

// spent is what this month has cost, or what was known last.
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
		out.month, out.dollars = this, 0 // it was known when the month began
	}
	if now.After(staleAt) {
		out.unknown, out.why = out.asOf, "the costs are not counted; look for errors of the sweeper in the log"
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
