package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepers is how many periodic tasks are carried out at once: each, so that GitHub's listing, page by page, delays no look
// at the fleet.
const sweepers = 6

// Keys of the sweeper.
const (
	sweepFleet    = "fleet"
	sweepRunners  = "runners"
	sweepTemplate = "template"
	sweepRecords  = "records"
	sweepDemand   = "demand"
	sweepCosts    = "costs"
)

// secondScan follows the first, in case a write of the last leader arrived late.
const secondScan = 10 * time.Second

// tasks are done again and again, each a key of its own: none waits for another or fails with it (H53).
type tasks map[string]task

type task struct {
	every time.Duration
	do    func(context.Context) error
}

// look carries out one task and says when it is due again.
func (t tasks) look(ctx context.Context, name string) (Result, error) {
	return Result{After: t[name].every}, t[name].do(ctx)
}

// Chore keeps something that the records do not describe as it must be, such as a queue or a launch
// template. Do is idempotent, may run in two controllers at once, and says itself what it changed.
type Chore struct {
	Name string // one of a kind
	Do   func(context.Context) error
}

// choreLimit bounds one chore. The longest waits for a new table, which takes DynamoDB under a
// minute.
const choreLimit = 2 * time.Minute

// task returns the chore as a task that cannot take for ever.
func (c Chore) task(every time.Duration) task {
	return task{every, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, choreLimit, errors.New("the chore took too long"))
		defer cancel()
		if err := c.Do(ctx); err != nil {
			return fmt.Errorf("housekeeping of %s: %w", c.Name, err)
		}
		return nil
	}}
}
