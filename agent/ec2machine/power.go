package ec2machine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent"
)

// Machine is the instance for the agent: what it may do to the computer.
type Machine struct {
	agent.Scrubber
	*Host
}

// Halt implements agent.Machine.
func (Machine) Halt(ctx context.Context, _ string) error { return PowerOff(ctx) }

// waysOff end the machine, the gentlest first. The third does not wait for services, the last does
// not even ask the service manager. None is a halt, which would leave the instance on.
var waysOff = [][]string{
	{"systemctl", "poweroff"},
	{"shutdown", "-P", "now"},
	{"systemctl", "poweroff", "--force"},
	{"poweroff", "-f", "-f"},
}

// commandLimit bounds one command. A service manager answers within milliseconds; four that hang are
// less than the 10 s the agent has for one try (agent, haltTry). Tests are more patient.
var commandLimit = 2 * time.Second

// PowerOff begins the end of the machine by the first way that works. An error names them all.
func PowerOff(ctx context.Context) error {
	var errs []error
	for _, way := range waysOff {
		err := run(ctx, way)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("power off: %w", errors.Join(errs...))
}

// TakeOver cancels the power-off that user data scheduled at boot. It is an error if that may still
// be due, and none if nothing was scheduled.
func (h *Host) TakeOver(ctx context.Context) error {
	if err := run(ctx, []string{"shutdown", "-c"}); err != nil {
		return fmt.Errorf("cancel the power-off scheduled at boot: %w", err)
	}
	return nil
}

// run runs a command of the machine, found on PATH.
func run(ctx context.Context, command []string) error {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second / 2 // what it started may keep its output open
	out, err := cmd.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
}
