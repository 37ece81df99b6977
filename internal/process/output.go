//go:build unix

package process

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// maxOutput bounds the program's output in an error of Output, in bytes.
const maxOutput = 1500

// Output runs a program and returns its output. An error contains the end of the output. A process that reaps orphans must start every
// program with Output, because otherwise it also reads the program's status.
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
