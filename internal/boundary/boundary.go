//go:build unix

// Package boundary holds one listener together with all that it starts, by a mechanism of the kernel that no process can
// leave without root: a control group (cgroups(7), version 2) of its own, or a PID namespace (pid_namespaces(7)) where no
// control group can be had. The kernel ends all of it at once and shows that nothing is left.
//
// What a service of the machine starts for a user, such as cron, is not inside: see Services.
package boundary

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// Boundary holds the processes of one listener at a time. It is safe for concurrent use, but for Start and Resume.
type Boundary interface {
	// Start ends the processes of an earlier listener inside, and starts cmd inside, with the view of process.Start. The caller calls Wait.
	Start(ctx context.Context, cmd *exec.Cmd, view ...func() error) (process.Ref, error)
	// Wait returns the wait status of the process that Start returned, once that has ended, as a shell shows it: 128 and
	// the signal for one that was killed. It is false if the status is lost.
	Wait(ref process.Ref) (status int, ok bool)
	// Name names the boundary to a later process, which gives the name to Resume.
	Name() string
	// Resume takes over what Name named in an earlier process.
	Resume(name string)
	// Services reports whether what services of the machine start for a user can be ended for certain, too.
	Services() bool
	// Kill sends SIGKILL to all that is inside and does not wait.
	Kill() error
	// End kills all that is inside and returns nil once nothing is left. It takes endLimit at most.
	End(ctx context.Context) error
}

// endLimit bounds the wait for processes that the kernel was told to end: only the kernel can be slow then.
const endLimit = 10 * time.Second

// look is the time between two looks at something that changes within milliseconds.
const look = time.Millisecond

// Names of boundaries begin with their kind.
const (
	groupKind     = "cgroup:"
	namespaceKind = "pidns:"
)

// Open returns the boundary for the listeners of an instance: a control group, or else a PID namespace, whose first
// process is the command InitCommand of the program exe. The error says why there is neither.
func Open(instance, exe string) (Boundary, error) {
	g, err := openGroup(instance)
	if err == nil {
		return g, nil
	}
	n, nerr := openNamespace(exe)
	if nerr == nil {
		return n, nil
	}
	return nil, fmt.Errorf("no control group: %w; no PID namespace: %w", err, nerr)
}

// None returns a boundary that holds nothing together: its processes are ended by their process group, and the caller
// searches for the rest.
func None() Boundary { return &none{} }

type none struct{ ref process.Ref }

func (n *none) Start(_ context.Context, cmd *exec.Cmd, view ...func() error) (process.Ref, error) {
	if err := process.Start(cmd, view...); err != nil {
		return process.Ref{}, err
	}
	n.ref = refOf(cmd)
	return n.ref, nil
}

func (n *none) Wait(ref process.Ref) (int, bool) {
	_ = process.KillGroup(ref.PID) // the id of the group is the child's until its status is read
	return wait(ref)
}

func (*none) Name() string              { return "" }
func (*none) Resume(string)             {}
func (*none) Services() bool            { return false }
func (*none) Kill() error               { return nil }
func (*none) End(context.Context) error { return nil }

// refOf names the process that was just started. If the process has ended already, its status has not been read yet.
func refOf(cmd *exec.Cmd) process.Ref {
	ref, err := process.Lookup(cmd.Process.Pid)
	if err != nil {
		return process.Ref{PID: cmd.Process.Pid}
	}
	return ref
}

// wait reads the status of a child.
func wait(ref process.Ref) (int, bool) {
	defer process.Collected(ref.PID)
	for {
		var ws unix.WaitStatus
		switch pid, err := unix.Wait4(ref.PID, &ws, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case err != nil || pid != ref.PID:
			return 0, false
		default:
			return shown(ws), true
		}
	}
}

func shown(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// until calls done every look until it reports true, for endLimit at most. what says what is waited for.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endLimit, fmt.Errorf("%s: not within %s", what, endLimit))
	defer cancel()
	ticker := time.NewTicker(look) //nolint:forbidigo // what the kernel does takes real time
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// errNoGroups says that this process cannot make control groups of version 2.
var errNoGroups = errors.New("no hierarchy of version 2 is mounted")

// kindOf returns what follows the kind in a name; false if it has another kind.
func kindOf(name, kind string) (string, bool) { return strings.CutPrefix(name, kind) }
