package reconciler

import (
	"sync"
	"time"
)

// counting coordinates costs and writes. Time that a pending write may still change is not counted, and no write gets a date before the
// counted time. So each transition counts toward the correct phase, even if its write lands late.
type counting struct {
	mu      sync.Mutex
	through time.Time // the time up to which costs are counted
	writes  map[int]underWay
	n       int
}

// underWay is a write that may still land.
type underWay struct {
	began time.Time
	until time.Time // after this time it cannot land; zero: the call is running
}

const (
	lateEffect  = 15 * time.Second // how long a write without an answer may still land
	longestHold = 5 * time.Minute  // a slower write no longer delays the count
)

// begin records the start of a write. The caller calls end after the record is in the cache.
func (c *counting) begin(now time.Time) (end func(landed bool, now time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == nil {
		c.writes = map[int]underWay{}
	}
	c.n++
	key := c.n
	c.writes[key] = underWay{began: now}
	return func(landed bool, now time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w := c.writes[key]; landed {
			delete(c.writes, key)
		} else {
			w.until = now.Add(lateEffect)
			c.writes[key] = w
		}
	}
}

// date returns the date of a transition that was decided at the time read and is about to be written.
func (c *counting) date(read time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return later(read, c.through)
}

// advance counts up to the given time, or to the start of the first pending write.
func (c *counting) advance(to, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, w := range c.writes {
		switch {
		case !w.until.IsZero() && now.After(w.until):
			delete(c.writes, key)
		case now.Sub(w.began) <= longestHold:
			to = earlier(to, w.began)
		}
	}
	c.through = later(c.through, to)
	return to
}
