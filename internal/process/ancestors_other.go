//go:build unix && !linux

package process

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

func parentAt(pid int) (int, error) {
	out, err := ps("ppid=", pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

func commandAt(pid int) (string, error) { return ps("comm=", pid) }

// ps returns one column of one process.
func ps(column string, pid int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ps", "-o", column, "-p", strconv.Itoa(pid))
	cmd.Env = []string{"LC_ALL=C", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
