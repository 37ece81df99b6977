package reconciler

import (
	"errors"
	"log/slog"
	"sync"
)

// causes logs what an operator must repair: one ERROR for each cause, by what fails. The same cause is logged again only after it
// went away. So an alarm on errors sees it, and a refusal that lasts for hours fills no log.
type causes struct {
	log  *slog.Logger
	mu   sync.Mutex
	last map[string]string // by what fails, its present cause
}

func newCauses(log *slog.Logger) *causes { return &causes{log: log, last: map[string]string{}} }

// failed logs message at level ERROR unless what failed for the same cause before.
func (c *causes) failed(what, cause, message string, args ...any) {
	c.mu.Lock()
	known := c.last[what] == cause
	c.last[what] = cause
	c.mu.Unlock()
	if !known {
		c.log.Error(message, args...)
	}
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
