package reconciler

import (
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
)

// The brake: so many instances going silent within so short a time, and so large a part of all, is
// our outage and not theirs.
const (
	brakeCount  = 3 // more than
	brakeShare  = 3 // more than one in
	brakeWindow = time.Minute
)

// Braked reports whether n of live instances, gone or silent at once, are too many to be given up.
func Braked(n, live int) bool { return n > brakeCount && n*brakeShare > live }

// breaker keeps that brake.
type breaker struct {
	*tenure
	cache *cache
	on    atomic.Bool
}

// feelBrake puts the brake on, or takes it off once most are heard again. While it is on nothing is
// lost or swept; what really is dead ends by its threshold.
func (b *breaker) feelBrake(now time.Time) {
	live, stale, lately := 0, 0, 0
	b.cache.instances.eachAlive(func(in *instance) {
		live++
		if in.vitals.staleAt.IsZero() {
			return
		}
		stale++
		if now.Sub(in.vitals.staleAt) <= brakeWindow {
			lately++
		}
	})
	was := b.on.Load()
	on := Braked(lately, live) || was && Braked(stale, live)
	b.on.Store(on)
	switch {
	case on && !was:
		b.log.Error("too many instances went silent at once: nothing is given up until they are heard again", logkey.Count, stale)
	case was && !on:
		b.log.Info("instances are heard again", logkey.Count, live-stale)
	}
}

func (b *breaker) braked() bool { return b.on.Load() }
