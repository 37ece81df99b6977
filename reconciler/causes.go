package reconciler

import (
	"errors"
	"sync"
)

// causes lets the caller log one ERROR for each cause that an operator must repair, by what fails. The same cause is new again only
// after it went away. So an alarm on errors sees it, and a refusal that lasts for hours fills no log.
type causes struct {
	mu   sync.Mutex
	last map[string]string // by what fails, its present cause
}

func newCauses() *causes { return &causes{last: map[string]string{}} }

// failed records why something fails, and reports whether it did not fail for the same cause before.
func (c *causes) failed(what, cause string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.last[what] == cause
	c.last[what] = cause
	return !known
}

// over notes that what works again.
func (c *causes) over(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, what)
}

// causeOf returns what distinguishes one refusal from another: the fleet's own words for it, or else its code.
func causeOf(err error) string {
	if named := (interface{ Cause() string })(nil); errors.As(err, &named) {
		return named.Cause()
	}
	return codeOf(err)
}
