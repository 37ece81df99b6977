package ec2machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/process"
)

// Machine is the instance for the agent: what it may do to the computer.
type Machine struct {
	*Host
	scrub.Scrubber
}

// Halt implements agent.Machine. Where no command can be run, as on a machine that a job has filled with processes,
// the kernel ends the machine at once.
func (m Machine) Halt(ctx context.Context, _ string) error {
	err := PowerOff(ctx)
	if err == nil {
		return nil
	}
	if cut := m.cut(); cut != nil {
		return fmt.Errorf("%w; without a command: %w", err, cut)
	}
	return nil
}

// assetTag is the file in which firmware of the Nitro system shows the instance's id (EC2 User Guide, "Detect whether
// a host is an EC2 instance").
var assetTag = "/sys/devices/virtual/dmi/id/board_asset_tag"

// cut cuts the power of the instance, and of no other computer: neither of a test's, nor of one that was given
// another's metadata service.
func (m Machine) cut() error {
	tag, err := os.ReadFile(assetTag)
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(string(tag)); m.Host == nil || id == "" || id != m.Host.InstanceID {
		return fmt.Errorf("%s is %q, not the instance's id", assetTag, id)
	}
	return cutPower()
}

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
		err := run(ctx, commandLimit, "", way...)
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
	if err := run(ctx, commandLimit, "", "shutdown", "-c"); err != nil {
		return fmt.Errorf("cancel the power-off scheduled at boot: %w", err)
	}
	return nil
}

// run runs a command of the machine, found on PATH, and lets it read an input.
func run(ctx context.Context, limit time.Duration, input string, command ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	cmd.WaitDelay = time.Second / 2 // what it started may keep its output open
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Start(cmd)
	if err == nil {
		err = process.Wait(cmd)
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, bytes.TrimSpace(out.Bytes()))
}
