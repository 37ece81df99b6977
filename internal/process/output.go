//go:build unix

package process

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// maxOutput bounds what an error of Output repeats, in bytes.
const maxOutput = 1500

// Output runs a program and returns what it prints. Its error holds the end of what the program says. A process that reads the
// status of orphans must start every program this way: else it reads the status of the program, too.
func Output(ctx context.Context, program string, args ...string) (string, error) {
	var out, problems strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := Start(cmd)
	if err == nil {
		err = Wait(cmd)
	}
	if err != nil {
		said := strings.TrimSpace(problems.String() + out.String())
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args[:min(2, len(args))], " "), err, said[max(0, len(said)-maxOutput):])
	}
	return out.String(), nil
}
