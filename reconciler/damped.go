package reconciler

import (
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// dampPeriod is between two lines about one cause: 300 bad records would otherwise say so with every scan.
const dampPeriod = time.Minute

// Bounds of what others wrote, in the log. 200 bytes hold any key of ours, 1 kB any error that names one.
const (
	maxLoggedKey   = 200
	maxLoggedError = 1000
)

// damped logs errors of which one cause can have any number: the first at once, and then one a minute that
// counts the others. Causes are few and ours: nothing that others wrote may be part of one.
type damped struct {
	log   *slog.Logger
	clock clock.PassiveClock
	mu    sync.Mutex
	said  map[string]*trouble
}

// trouble is when a cause was said last, and how often it was found since.
type trouble struct {
	at    time.Time
	since int
}

func newDamped(log *slog.Logger, clk clock.PassiveClock) *damped {
	return &damped{log: log, clock: clk, said: map[string]*trouble{}}
}

// Error says that something is wrong with key, which is one of count since the last line.
func (d *damped) Error(message, cause, key string, err error) {
	now := d.clock.Now()
	d.mu.Lock()
	said, known := d.said[cause]
	if !known {
		said = &trouble{}
		d.said[cause] = said
	}
	said.since++
	count, due := said.since, !known || now.Sub(said.at) >= dampPeriod
	if due {
		said.at, said.since = now, 0
	}
	d.mu.Unlock()
	say := d.log.Debug
	if due {
		say = d.log.Error
	}
	say(message, logkey.Key, store.Head(key, maxLoggedKey), logkey.Error, store.Head(err.Error(), maxLoggedError), logkey.Count, count)
}
