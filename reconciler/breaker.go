package reconciler

import (
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
)

// The circuit breaker: so many instances going silent within so short a time, and so large a part of all, is
// our outage and not theirs.
const (
	breakerCount  = 3 // more than
	breakerShare  = 3 // more than one in
	breakerWindow = time.Minute
)

// TooMany reports whether n of live instances, gone or silent at once, are too many to be given up.
func TooMany(n, live int) bool { return n > breakerCount && n*breakerShare > live }

// breaker is that circuit breaker: open, nothing is given up.
type breaker struct {
	*tenure
	cache  *cache
	opened instant // since when it is open
}

// update opens the circuit breaker, or closes it once most report again. While it is open nothing is
// lost or swept; what really is dead ends by its threshold.
func (b *breaker) update(now time.Time) {
	live, stale, lately := 0, 0, 0
	b.cache.instances.eachAlive(func(in *instance) {
		live++
		if in.vitals.staleAt.IsZero() {
			return
		}
		stale++
		if now.Sub(in.vitals.staleAt) <= breakerWindow {
			lately++
		}
	})
	was := b.isOpen()
	open := TooMany(lately, live) || was && TooMany(stale, live)
	b.opened.hold(open, now)
	switch {
	case open && !was:
		b.log.Error("the circuit breaker is open: too many instances went silent at once, and none is given up until they report again", logkey.Count, stale)
	case was && !open:
		b.log.Info("the circuit breaker is closed: instances report again", logkey.Count, live-stale)
	}
}

func (b *breaker) isOpen() bool { return b.opened.is() }
