package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Chore keeps something that the records do not describe as it must be, such as a queue or a launch
// template. Do is idempotent, may run in two controllers at once, and says itself what it changed.
type Chore struct {
	Name string // one of a kind
	Do   func(context.Context) error
}

// choreLimit bounds one chore. The longest waits for a new table, which takes DynamoDB under a
// minute.
const choreLimit = 2 * time.Minute

// chore does one chore. Each has its own key and a worker to itself, so that none waits for another or
// fails with it (H53).
func (t *term) chore(ctx context.Context, name string) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, choreLimit, errors.New("the chore took too long"))
	defer cancel()
	if err := t.chores[name](ctx); err != nil {
		return Result{}, fmt.Errorf("housekeeping of %s: %w", name, err)
	}
	return Result{After: t.cfg.Housekeeping}, nil
}
