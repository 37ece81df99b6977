//go:build unix && !linux

package process

import (
	"errors"
	"fmt"
)

// AdoptOrphans does nothing: only Linux and FreeBSD can, and nothing here could find them.
func AdoptOrphans() error { return nil }

func table() ([]entry, error) {
	return nil, fmt.Errorf("list processes: %w", errors.ErrUnsupported)
}

// Reap does nothing where no process is adopted.
func Reap() error { return nil }

// LastPID returns -1: it is not known.
func LastPID() int { return -1 }

// LimitJobs does nothing.
func LimitJobs() error { return nil }
