package reconciler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
)

// tenureClock is the clock of one tenure: the store's time when it began, and what elapsed since. A wall clock that is set
// meanwhile moves no threshold, and one that was wrong all along is none of ours (H52).
type tenureClock struct {
	clock.WithTicker
	began time.Time
	ahead time.Duration // of our wall clock, when it began
}

// newTenureClock begins now. offset is the store's clock minus ours; where that may be how exactly it is known, ours is kept.
func newTenureClock(clk clock.WithTicker, offset time.Duration) tenureClock {
	if offset.Abs() <= exactly {
		offset = 0
	}
	return tenureClock{clk, clk.Now(), offset}
}

// Now is the time that the wall clock would show had no one set it. Its monotonic reading is moved alike, so the time
// between two is what elapsed.
func (c tenureClock) Now() time.Time { return c.began.Add(c.WithTicker.Since(c.began) + c.ahead) }

// Since is the time between t and now.
func (c tenureClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// of turns a reading of the clock below, which must have been taken in this tenure's process.
func (c tenureClock) of(t time.Time) time.Time { return c.began.Add(t.Sub(c.began) + c.ahead) }

// astray is how far the tenure's time has come away from the store's, as far as that is known: nothing but a clock
// that was set, or the sleep of the whole computer, which no clock of ours counts.
func (c tenureClock) astray(offset time.Duration) time.Duration {
	wall := c.WithTicker.Now().Round(0)
	return wall.Add(offset).Sub(c.Now().Round(0)).Abs()
}

// Bounds of a tenure's time.
const (
	// exactly is how well the store's time is known: to a second, and half the time of a call.
	exactly = 3 * time.Second
	// mostAstray is well above what the store's word is exact to, and far below any limit of an idle machine.
	mostAstray = 20 * time.Second
	// astrayFor is long enough for the store to say its time after the wall clock was set: the lease alone asks it
	// twice a second.
	astrayFor  = 5 * time.Second
	astrayLook = time.Second
)

// errAstray ends a tenure whose time is not the store's any more.
var errAstray = errors.New("the clock was set")

// keepTime ends the tenure when its time is not the store's any more: the next begins with that.
func (c tenureClock) keepTime(ctx context.Context, offset func() time.Duration, log *slog.Logger) error {
	ticker := c.NewTicker(astrayLook)
	defer ticker.Stop()
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		now := c.Now()
		switch off := c.astray(offset()); {
		case off <= mostAstray:
			since = time.Time{}
		case since.IsZero():
			since = now
		case now.Sub(since) >= astrayFor:
			log.Error("the clock was set: the records are read anew", logkey.Seconds, off.Seconds())
			return errAstray
		}
	}
}
