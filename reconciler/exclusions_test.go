package reconciler

import (
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
)

// S75: a refused place is left alone for its time, to the nanosecond, and counts anew when it is
// refused again.
func TestExclusions_Life(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	e := newExclusions(clk, 3*time.Minute)
	a, b := fleet.Slot{UsageClass: "spot", Zone: "a"}, fleet.Slot{UsageClass: "spot", Zone: "b"}
	start := clk.Now()
	check := func(when string, first time.Time, want ...fleet.Slot) {
		t.Helper()
		got, at := e.slots()
		slices.SortFunc(got, func(x, y fleet.Slot) int { return slices.Compare([]byte(x.Zone), []byte(y.Zone)) })
		if !slices.Equal(got, want) || !at.Equal(first) {
			t.Errorf("%s: slots() = %v until %s, want %v until %s", when, got, at, want, first)
		}
	}
	check("at first", time.Time{})
	e.add(fleet.Refusal{Slot: a})
	clk.Step(time.Minute)
	e.add(fleet.Refusal{Slot: b})
	check("both", start.Add(3*time.Minute), a, b)
	clk.Step(2*time.Minute - 1)
	check("one nanosecond before", start.Add(3*time.Minute), a, b)
	clk.Step(1)
	check("exactly", start.Add(4*time.Minute), b)
	e.add(fleet.Refusal{Slot: b})
	check("again", start.Add(6*time.Minute), b)
	clk.Step(time.Hour)
	check("long after", time.Time{})
}

// The refusals that concern a query are listed in the fleet's own words, the newest first, for as long as they are in force.
func TestExclusions_LastTold_S75(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	e := newExclusions(clk, 3*time.Minute)
	refuse := func(usage, class, code string) {
		e.add(fleet.Refusal{Slot: fleet.Slot{UsageClass: usage, ResourceClass: class, Zone: "a"}, Code: code, Message: "why"})
		clk.Step(time.Second)
	}
	refuse("spot", "", "First")
	refuse("spot", "small", "InsufficientInstanceCapacity")
	refuse("spot", "large", "Other")
	refuse("on-demand", "", "Another")
	small := pool.Query{ResourceClass: "small", UsageClasses: []string{"spot"}}
	if got, want := e.last(small), "spot a: InsufficientInstanceCapacity why; spot a: First why"; got != want {
		t.Errorf("last() = %q, want %q", got, want)
	}
	clk.Step(2*time.Minute + 56*time.Second)
	if got, want := e.last(small), "spot a: InsufficientInstanceCapacity why"; got != want {
		t.Errorf("last() = %q once the first place may be tried again, want %q", got, want)
	}
	clk.Step(time.Second)
	if got := e.last(small); got != "" {
		t.Errorf("last() = %q after its time, want nothing", got)
	}
}
