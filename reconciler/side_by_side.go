package reconciler

import (
	"errors"

	"golang.org/x/sync/errgroup"
)

// sideBySide writes all items in parallel, so that a failing write does not delay the others. It returns all errors.
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
	_ = writes.Wait() // errs holds the errors
	return errors.Join(errs...)
}
