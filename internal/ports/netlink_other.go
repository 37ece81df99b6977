//go:build !linux

package ports

import "errors"

// fromNetlink returns errors.ErrUnsupported: /proc may have them.
func fromNetlink() ([]Listener, error) { return nil, errors.ErrUnsupported }
