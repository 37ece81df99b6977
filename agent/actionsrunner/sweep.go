//go:build unix

package actionsrunner

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
)

// sweep ends every process of the instance but this one.
func (r *Runner) sweep(ctx context.Context) error {
	if err := r.o.Boundary.End(ctx); err != nil {
		return err
	}
	for quiet := 0; quiet < quietLooks; {
		left, err := r.others()
		if err != nil {
			return err
		}
		if len(left) == 0 {
			quiet++
			continue
		}
		quiet = 0
		if err := process.KillAll(left...); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.o.Clock.After(lookSoon):
		}
	}
	return nil
}

// quietLooks is how many looks in a row must find nothing: one can miss a process in the middle of
// exec (see package process).
const quietLooks = 2

// others lists the processes of the instance but this one.
func (r *Runner) others() ([]process.Ref, error) {
	all, err := process.Find(agent.EnvMarker, r.o.InstanceID)
	if err != nil {
		return nil, fmt.Errorf("find processes of %s: %w", r.o.InstanceID, err)
	}
	self := os.Getpid()
	return slices.DeleteFunc(all, func(ref process.Ref) bool { return ref.PID == self }), nil
}
