package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/config"
)

// Doctor waits for a controller that was just started, no longer than it may, and not for a store that is not there.
func TestDoctor_WaitsForALeader(t *testing.T) {
	for name, tt := range map[string]struct {
		after   time.Duration // it leads
		limit   time.Duration
		from    time.Duration // how long it waits
		to      time.Duration
		noStore bool
	}{
		"Soon":     {20 * time.Second, 2 * time.Minute, 20 * time.Second, 23 * time.Second, false},
		"Late":     {time.Hour, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute, false},
		"NotAsked": {time.Hour, 0, 0, 0, false},
		"NoStore":  {time.Hour, 2 * time.Minute, 0, 0, true},
	} {
		t.Run(name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			c := newCLI(st)
			if tt.noStore {
				c = newCLI(nil)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				select {
				case <-time.After(tt.after):
					leads(ctx, t, st, "host-1")
				case <-ctx.Done():
				}
			}()
			start := time.Now()
			err := awaitLeader(t.Context(), c.app, config.Default(), tt.limit)
			if took := time.Since(start); err != nil || took < tt.from || took > tt.to {
				t.Errorf("awaitLeader = %v after %s, want %s to %s", err, took, tt.from, tt.to)
			}
			stop()
			<-ended
		}))
	}
}

// Ctrl-C ends it.
func TestDoctor_WaitInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitLeader(ctx, newCLI(memory(t, nil)).app, config.Default(), time.Minute); !errors.Is(err, errInterrupted) {
		t.Errorf("awaitLeader = %v, want %v", err, errInterrupted)
	}
}
