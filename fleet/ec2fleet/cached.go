package ec2fleet

import (
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/awserr"
)

// Lives of what EC2 answered. Types and offerings change within months; free addresses, within minutes;
// and a role's id only when someone makes the role anew.
const (
	typesLife    = time.Hour
	zonesLife    = 3 * time.Minute
	roleLife     = 10 * time.Minute
	templateLife = 30 * time.Second // the period of the sweep, which asks anyway
	staleLife    = 5 * time.Second  // of an old value, until EC2 is asked again
	lastingLife  = time.Minute      // the same, where only an operator may be able to cure it
)

// cached is a value that is asked for anew when its life is over. If that fails because EC2 does not
// answer now, the old value stands. The zero cached is empty.
type cached[T any] struct {
	mu    sync.Mutex // held while asking: the others want the same answer
	value T
	known bool
	until time.Time
}

func (c *cached[T]) get(now time.Time, life time.Duration, ask func() (T, error)) (T, error) {
	return c.renewed(now, life, staleLife, ask, func(err error) bool {
		class := awserr.ClassOf(err)
		return class == awserr.Throttled || class == awserr.Unavailable
	})
}

// lasting is get for what stays true of machines that exist, whatever keeps us from seeing it again: the old
// value stands after any error, which is handed to warn.
func (c *cached[T]) lasting(now time.Time, life time.Duration, ask func() (T, error), warn func(error)) (T, error) {
	return c.renewed(now, life, lastingLife, ask, func(err error) bool {
		warn(err)
		return true
	})
}

// renewed asks if the value's life is over. If that fails with an error that keep takes, the old value
// stands for stale.
func (c *cached[T]) renewed(now time.Time, life, stale time.Duration, ask func() (T, error), keep func(error) bool) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known && now.Before(c.until) {
		return c.value, nil
	}
	value, err := ask()
	if err != nil {
		if c.known && keep(err) {
			c.until = now.Add(min(stale, life))
			return c.value, nil
		}
		return value, err
	}
	c.value, c.known, c.until = value, true, now.Add(life)
	return value, nil
}

// peek returns the value, as old as it may be.
func (c *cached[T]) peek() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

// expire makes the next get ask.
func (c *cached[T]) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Time{}
}

// forget makes the next get ask. It keeps no old value.
func (c *cached[T]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = false
}
