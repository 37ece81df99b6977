// Package host is the computer that an agent works on, or the part of it that is one instance's.
package host

import (
	"context"
	"os"

	"github.com/remuda-run/remuda/agent/scrub"
)

// Process is a machine that is no more than the processes of one instance, beside others on
// the same computer.
type Process struct {
	Scrubber scrub.Scrubber
	Notice   string // file that appears when the instance will be taken away; "": never
}

// Halt kills every process of the instance but the agent, which ends because Run returns.
func (m Process) Halt(ctx context.Context, _ string) error { return m.Scrubber.EndAll(ctx) }

// Scrub implements agent.Machine.
func (m Process) Scrub(ctx context.Context, class string) error { return m.Scrubber.Scrub(ctx, class) }

// Interrupted reports whether the notice is there.
func (m Process) Interrupted(context.Context) bool {
	if m.Notice == "" {
		return false
	}
	_, err := os.Stat(m.Notice)
	return err == nil
}
