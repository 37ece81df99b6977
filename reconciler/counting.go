package reconciler

import (
	"sync"
	"time"
)

// counting keeps costs and writes apart: no time is counted that a write under way may still change, and no write is dated before what
// is counted. So a transition is counted in its phase, however late its write lands.
type counting struct {
	mu      sync.Mutex
	through time.Time // counted
	writes  map[int]underWay
	n       int
}

// underWay is a write that may land.
type underWay struct {
	began time.Time
	until time.Time // when it can no longer land; zero: it is under way
}

const (
	lateEffect  = 15 * time.Second // after a call without an answer
	longestHold = 5 * time.Minute  // for one write; the count goes on without it
)

// begin notes a write that begins now. The caller ends it once its record is in the cache.
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

// date returns when a transition happened, which was decided at a clock reading and is about to be written.
func (c *counting) date(read time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return later(read, c.through)
}

// advance counts until an instant, or until the first write under way.
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
