//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lstart is the layout of ps's column of that name on BSD and macOS, in the C locale.
const lstart = "Mon Jan _2 15:04:05 2006"

// psLimit bounds one call of ps, which normally takes milliseconds.
const psLimit = 5 * time.Second

func readStat(pid int) (stat, error) {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || pid <= 0 {
		return stat{}, ErrNotFound
	}
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid))
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stat{}, ErrNotFound // ps exits 1 when no process matches
	}
	if err != nil {
		return stat{}, fmt.Errorf("run ps: %w", err)
	}
	return parsePS(string(out))
}

// bootID is empty: ps shows wall times.
func bootID() (string, error) { return "", nil }

func parsePS(line string) (stat, error) {
	state, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
	if !ok {
		return stat{}, ErrNotFound
	}
	if strings.HasPrefix(state, "Z") {
		return stat{}, ErrNotFound
	}
	at, err := time.Parse(lstart, strings.TrimSpace(rest))
	if err != nil {
		return stat{}, fmt.Errorf("malformed line %q of ps", line)
	}
	return stat{start: at.Unix()}, nil
}

func (entry) markers(string, time.Time) []string { return nil }

func patience() time.Time { return time.Time{} }

func signal(r Ref, sig syscall.Signal) error { return signalByPID(r, sig) }
