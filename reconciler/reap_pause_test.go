package reconciler

import (
	"testing"
	"time"
)

// A refusal that lasts costs ever fewer calls, and an operator who mended it waits no longer than a minute. H09
func TestRefusedPause_H09(t *testing.T) {
	for lasts, want := range map[time.Duration]time.Duration{
		0: reapAgain, 8 * time.Second: reapAgain, 40 * time.Second: 10 * time.Second, 4 * time.Minute: time.Minute, 24 * time.Hour: time.Minute,
	} {
		if got := refusedPause(lasts); got != want {
			t.Errorf("refusedPause(%s) = %s, want %s", lasts, got, want)
		}
	}
}
