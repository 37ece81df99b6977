package reconciler

import (
	"log/slog"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// limitedLogPeriod is between two lines about one cause: 300 bad records would otherwise say so with every scan.
const limitedLogPeriod = time.Minute

// Bounds of what others wrote, in the log. 200 bytes hold any key of ours, 1 kB any error that names one.
const (
	maxLoggedKey   = 200
	maxLoggedError = 1000
)

// limitedLog logs errors of which one cause can have any number: the first at once, and then one a minute that
// counts the others. Causes are few and ours: nothing that others wrote may be part of one.
type limitedLog struct {
	log     *slog.Logger
	clock   clock.PassiveClock
	mu      sync.Mutex
	byCause map[string]*recurring
}

// recurring is when a cause was logged last, and how often it was found since.
type recurring struct {
	at    time.Time
	since int
}

func newLimitedLog(log *slog.Logger, clk clock.PassiveClock) *limitedLog {
	return &limitedLog{log: log, clock: clk, byCause: map[string]*recurring{}}
}

// Error says that something is wrong with key, which is one of count since the last line.
func (d *limitedLog) Error(message, cause, key string, err error) {
	now := d.clock.Now()
	d.mu.Lock()
	last, known := d.byCause[cause]
	if !known {
		last = &recurring{}
		d.byCause[cause] = last
	}
	last.since++
	count, due := last.since, !known || now.Sub(last.at) >= limitedLogPeriod
	if due {
		last.at, last.since = now, 0
	}
	d.mu.Unlock()
	say := d.log.Debug
	if due {
		say = d.log.Error
	}
	say(message, logkey.Key, store.Head(key, maxLoggedKey), logkey.Error, store.Head(err.Error(), maxLoggedError), logkey.Count, count)
}
