package pool_test

import (
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// available fails the test unless exactly these candidates could be taken.
func available(t *testing.T, when string, p *pool.Pickup, want ...string) {
	t.Helper()
	got := p.Available()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: Available = %v, want %v", when, got, want)
	}
}

// What is taken is offered to no one else, what comes back is, and what was dropped is not. S50
func TestPickup_AvailableIsWhatNobodyHas_S50(t *testing.T) {
	p, _ := newPickup()
	available(t, "empty", p)
	for n := range 4 {
		p.Put(spot(n))
	}
	available(t, "put", p, "i-000", "i-001", "i-002", "i-003")
	take(t, p, query(), "r", "i-000")
	take(t, p, query(), "r", "i-001")
	available(t, "two taken", p, "i-002", "i-003")
	p.Put(spot(0))
	available(t, "a taken one put again", p, "i-002", "i-003")
	p.Return("i-000")
	available(t, "one returned", p, "i-000", "i-002", "i-003")
	p.Untake("i-001", "r")
	available(t, "the other one not claimed", p, "i-000", "i-001", "i-002", "i-003")
	p.Drop("i-003")
	available(t, "one dropped", p, "i-000", "i-001", "i-002")
	take(t, p, query(), "other", "i-000")
	p.Drop("i-000")
	p.Return("i-000")
	available(t, "a taken one dropped", p, "i-001", "i-002")
}

// From its threshold on a candidate is not available, although no one has removed it yet, and nor if it comes back. S48
func TestPickup_AvailableEndsWithTheThreshold_S48(t *testing.T) {
	p, clk := newPickup()
	for n := range 3 {
		p.Put(spot(n))
	}
	take(t, p, query(), "r", "i-000")
	clk.SetTime(spot(1).Threshold.Add(-time.Nanosecond))
	available(t, "just before", p, "i-001", "i-002")
	clk.SetTime(spot(1).Threshold)
	available(t, "at the second one's threshold", p, "i-002")
	p.Return("i-000")
	available(t, "an expired one returned", p, "i-002")
}
