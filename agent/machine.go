package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/remuda-run/remuda/internal/process"
)

// ProcessMachine is a machine that is no more than the processes of one instance, beside others on
// the same computer.
type ProcessMachine struct {
	Scrubber
	Notice string // file that appears when the instance will be taken away; "": never
}

// haltPause is the time between two looks for processes that were killed.
const haltPause = 20 * time.Millisecond

// Halt kills every process of the instance but the agent, which ends because Run returns.
func (m ProcessMachine) Halt(ctx context.Context, _ string) error {
	for {
		kerr := m.killByKernel()
		left, err := m.left()
		if err := errors.Join(kerr, err, process.KillAll(left...)); err != nil || len(left) == 0 {
			return err
		}
		t := m.Clock.NewTimer(haltPause)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C():
		}
	}
}

// Interrupted reports whether the notice is there.
func (m ProcessMachine) Interrupted(context.Context) bool {
	if m.Notice == "" {
		return false
	}
	_, err := os.Stat(m.Notice)
	return err == nil
}
