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

// Reaper has nothing to do where no process is adopted.
type Reaper struct{}

// Reap does nothing.
func (*Reaper) Reap() error { return nil }
