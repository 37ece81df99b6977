package sim

import (
	"testing"
	"time"
)

// A clock that is set shows another time, and what elapsed stays what elapsed: that is how package time keeps an instant.
func TestWithMonotonic(t *testing.T) {
	wall := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	before := withMonotonic(wall, time.Second)
	if !before.Equal(wall) || !before.Round(0).Equal(wall) {
		t.Errorf("the wall clock shows %s, want %s", before, wall)
	}
	for _, by := range []time.Duration{time.Millisecond, time.Hour, -30 * time.Hour} {
		after := withMonotonic(wall.Add(by), 2500*time.Millisecond)
		if got := after.Sub(before); got != 1500*time.Millisecond {
			t.Errorf("set by %s: %s elapsed, want 1.5s", by, got)
		}
		if got := after.Round(0).Sub(before.Round(0)); got != by {
			t.Errorf("set by %s: the wall clock moved by %s", by, got)
		}
		if got := after.Add(time.Minute).Sub(before); got != 61500*time.Millisecond {
			t.Errorf("set by %s: a minute later %s elapsed, want 1m1.5s", by, got)
		}
	}
}
