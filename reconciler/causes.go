package reconciler

import (
	"errors"
	"sync"
)

// causes remembers the present cause of each failure that an operator must fix, so that callers log one ERROR per cause. A cause that went
// away and comes back counts as new. So an alarm sees each new cause, and a refusal that lasts for hours does not fill the log.
type causes struct {
	mu   sync.Mutex
	last map[string]string // the present cause, by the operation that fails
}

func newCauses() *causes { return &causes{last: map[string]string{}} }

// failed records the cause of a failed operation, and reports whether the cause is new.
func (c *causes) failed(what, cause string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.last[what] == cause
	c.last[what] = cause
	return !known
}

// over records that an operation works again.
func (c *causes) over(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, what)
}

// causeOf returns the text that tells refusals apart: the cause that the fleet names, or else the code.
func causeOf(err error) string {
	if named := (interface{ Cause() string })(nil); errors.As(err, &named) {
		return named.Cause()
	}
	return codeOf(err)
}
