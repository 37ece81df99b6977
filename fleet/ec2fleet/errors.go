package ec2fleet

import (
	"fmt"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
)

// explain explains an error of a call to an operator, and gives it its kind for the contract's users.
func explain(err error, call, resource string) error {
	if err == nil {
		return nil
	}
	explained := awserr.Explain(err, call, resource)
	switch class := awserr.ClassOf(err); {
	case class == awserr.Throttled:
		return fmt.Errorf("%w: %w", fleet.ErrThrottled, explained)
	case definite(class):
		return fmt.Errorf("%w: %w", fleet.ErrRefused, explained)
	}
	return explained
}

// definite reports whether a call of this class had no effect and can have none later.
func definite(class awserr.Class) bool {
	return class == awserr.Denied || class == awserr.NotFound || class == awserr.Invalid || class == awserr.Exists
}
