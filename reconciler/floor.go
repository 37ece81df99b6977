package reconciler

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/pool"
)

// Floor is how many machines of a class are kept idle while nobody asks. The zero value keeps none and bounds none.
type Floor struct {
	Schedule     schedule.Schedule // how many, and when
	Max          int               // idle at most, beyond which the oldest are dismissed; 0: no bound
	MaxAge       time.Duration     // one that is older is not kept; more than 0 where the schedule ever wants any
	UsageClasses []string          // of new ones, in order of preference
}

// wanted is how many are wanted at an instant.
func (f Floor) wanted(now time.Time) int { return f.Schedule.Min(now) }

func (f Floor) configured() bool { return f.Schedule.Most() > 0 || f.Max > 0 }

// floors lists the classes that have one, in order.
func (c Config) floors() []string {
	return slices.DeleteFunc(c.classNames(), func(class string) bool { return !c.Classes[class].Floor.configured() })
}

// FloorQuery says which machines the floor of a class keeps: of every type that the class has.
func (c Config) FloorQuery(class string) pool.Query {
	of := c.Classes[class]
	return pool.Query{ResourceClass: class, UsageClasses: of.Floor.UsageClasses, AllowedTypes: []string{"*"}, CPU: of.CPU, Mem: of.Mem}
}

// keepStep is how far ahead a kept machine's threshold is put: what a schedule or an operator no longer wants is gone within it.
const keepStep = 5 * time.Minute

// FloorStep is that of a class: no longer than its idle machines are kept anyway.
func (c Config) FloorStep(class string) time.Duration { return min(keepStep, c.LimitsOf(class).Idle) }

// Retired is when a machine that began at an instant is to be replaced: before it is too old, so that its successor has booted
// and been cleaned by then.
func (c Config) Retired(f Floor, began time.Time) time.Time {
	return began.Add(f.MaxAge - min(f.MaxAge/10, c.Limits.CreateGate+c.Limits.Handshake))
}

// FloorFailing is why a floor is short whose machines fail; see also Reason.
const FloorFailing = "failing"

// Reasons recorded with an idle machine that its class's floor dismisses.
const (
	reasonSurplus = "more idle machines than its class keeps"
	reasonRoom    = "a request that waits needs its room below the caps"
)
