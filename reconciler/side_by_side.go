package reconciler

import (
	"errors"

	"golang.org/x/sync/errgroup"
)

// sideBySide makes one write for each of some, so that one that takes no write delays no other. It returns what went wrong with any.
func sideBySide[T any](of []T, write func(T) error) error {
	errs := make([]error, len(of))
	var writes errgroup.Group
	writes.SetLimit(fanOut)
	for i, one := range of {
		writes.Go(func() error {
			errs[i] = write(one)
			return nil
		})
	}
	_ = writes.Wait() // each has its error among errs
	return errors.Join(errs...)
}
