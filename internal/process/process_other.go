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
	out, err := ps("stat=,ppid=,lstart=", pid)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stat{}, ErrNotFound // ps exits 1 when no process matches
	}
	if err != nil {
		return stat{}, fmt.Errorf("run ps: %w", err)
	}
	return parsePS(out)
}

// ps returns some columns of one process.
func ps(columns string, pid int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ps", "-o", columns, "-p", strconv.Itoa(pid))
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/bin:/usr/bin"}
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func commandOf(pid int) (string, error) { return ps("comm=", pid) }

// BootID is empty: ps shows wall times.
func BootID() (string, error) { return "", nil }

func parsePS(line string) (stat, error) {
	state, rest, _ := strings.Cut(line, " ")
	ppid, started, ok := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok || strings.HasPrefix(state, "Z") {
		return stat{}, ErrNotFound
	}
	parent, perr := strconv.Atoi(ppid)
	at, err := time.Parse(lstart, strings.TrimSpace(started))
	if errors.Join(perr, err) != nil {
		return stat{}, fmt.Errorf("malformed line %q of ps", line)
	}
	return stat{start: at.Unix(), parent: parent}, nil
}

func (entry) markers(string, time.Time) []string { return nil }

func patience() time.Time { return time.Time{} }

func signal(r Ref, sig syscall.Signal) error { return signalByPID(r, sig) }
