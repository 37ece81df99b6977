package agent

import (
	"testing"
	"time"
)

// The shorter of wall and monotonic time counts (G12).
func TestRemaining_StepsOfTheWallClock_S30(t *testing.T) {
	learned := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limit := learned.Add(10 * time.Minute)
	for _, tt := range []struct {
		name, reason string
		wall         time.Time
		elapsed      time.Duration
		want         time.Duration
	}{
		{"Undisturbed", "both clocks agree", learned.Add(4 * time.Minute), 4 * time.Minute, 6 * time.Minute},
		{"OneTickBefore", "strictly before the limit it lives", limit.Add(-1), 10*time.Minute - 1, 1},
		{"Exactly", "the limit itself is already late", limit, 10 * time.Minute, 0},
		{"SetBack", "a wall clock set back by an hour prolongs nothing", learned.Add(-56 * time.Minute), 4 * time.Minute, 6 * time.Minute},
		{"SetForward", "a wall clock that was late and is right now counts", learned.Add(9 * time.Minute), 4 * time.Minute, time.Minute},
		{"Suspended", "monotonic time may stand still while the machine sleeps", learned.Add(11 * time.Minute), time.Second, -time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := remaining(limit, learned, tt.wall, tt.elapsed); got != tt.want {
				t.Errorf("remaining = %s, want %s: %s", got, tt.want, tt.reason)
			}
		})
	}
}

// A clock that went back while no agent ran does not prolong a life either, and the offset to the
// store's clock is applied to every reading.
func TestExpiry_ReadByEarlierAgent(t *testing.T) {
	read := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	offset := time.Duration(0)
	e := &expiry{offset: func() time.Duration { return offset }, grace: time.Minute, changed: make(chan struct{}, 1)}
	back := read.Add(-time.Hour)
	e.learn(read.Add(5*time.Minute), read, back)
	if got, reason := e.left(back); got != 6*time.Minute || reason != haltThreshold {
		t.Errorf("left after the clock went back = %s, %q; want 6m0s, %q", got, reason, haltThreshold)
	}
	offset = 30 * time.Second // we are late
	e.learn(read.Add(5*time.Minute), read, read)
	if got, _ := e.left(read); got != 5*time.Minute+30*time.Second {
		t.Errorf("left on a late clock = %s, want 5m30s", got)
	}
}

// The boot deadline is of our own clock: what is learned of the store's later does not move it.
func TestExpiry_BootDeadline_OffsetLearnedLater_S20(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	offset := time.Duration(0)
	e := &expiry{offset: func() time.Duration { return offset }, grace: time.Minute, changed: make(chan struct{}, 1)}
	e.boot(start.Add(10*time.Minute), start, start)
	for _, offset = range []time.Duration{0, time.Hour, -time.Hour} {
		if got, reason := e.left(start.Add(time.Minute)); got != 9*time.Minute || reason != haltBoot {
			t.Errorf("left with an offset of %s = %s, %q; want 9m0s, %q", offset, got, reason, haltBoot)
		}
	}
	offset = time.Hour // our clock is an hour late
	e.learn(start.Add(time.Hour+10*time.Minute), start, start)
	if got, _ := e.left(start); got != 11*time.Minute {
		t.Errorf("left until a threshold of the store's clock = %s, want 11m0s", got)
	}
}
