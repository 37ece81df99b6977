//go:build unix

// Package process distinguishes the processes of this machine and ends them safely.
//
// A pid alone names nothing for long: the kernel gives it to the next process. A Ref adds the start
// time, and every function that acts on a process checks both. Descendants are found by a marker in
// their initial environment, which they inherit even after they left the process group, the
// session or their parent.
//
// Limits. A marker is seen only in processes whose environment we may read (those of our own user,
// all for root), and a process that clears its environment before it executes another program, or
// that overwrites its memory (setproctitle), is not found. One may fork while we look: who must be
// sure that none is left repeats Find and KillAll until nothing is found. Isolation against hostile
// code is not the purpose.
//
// Linux has everything. On other unix systems start times come from ps, in whole seconds, and Find
// and Marked return errors.ErrUnsupported.
package process

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrNotFound says that there is no such process, or that all its threads have ended and it only waits for
// its parent to read its status.
var ErrNotFound = errors.New("process: not found")

// Ref names one process for ever. The zero Ref names none.
type Ref struct {
	PID int `json:"pid"`
	// Start is when it started, in the system's own unit (Linux: clock ticks since boot); it serves only to be
	// compared with another one of the same boot.
	Start int64 `json:"start"`
}

// Alive reports whether the process still runs. A zombie does not.
func (r Ref) Alive() bool {
	st, err := readStat(r.PID)
	return err == nil && st.start == r.Start
}

// Lookup returns the Ref of the process that has pid now, or ErrNotFound.
func Lookup(pid int) (Ref, error) {
	st, err := readStat(pid)
	if err != nil {
		return Ref{}, fmt.Errorf("read start time of process %d: %w", pid, err)
	}
	return Ref{PID: pid, Start: st.start}, nil
}

// Signal sends sig to the process that r names and to no other. It returns ErrNotFound if that one
// has ended.
func Signal(r Ref, sig syscall.Signal) error {
	if r.PID <= 0 { // to the kernel these mean groups, and 0 our own
		return fmt.Errorf("signal process %d: %w", r.PID, ErrNotFound)
	}
	if err := signal(r, sig); err != nil {
		return fmt.Errorf("signal process %d: %w", r.PID, err)
	}
	return nil
}

// KillAll sends SIGKILL to every process of refs and returns the joined errors of those that may
// live on. Ended ones are no error. It does not wait for their end.
func KillAll(refs ...Ref) error {
	var errs []error
	for _, r := range refs {
		if err := Signal(r, syscall.SIGKILL); err != nil && !errors.Is(err, ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// KillGroup sends SIGKILL to every process of the group that pid leads. A group that is gone is no error, nor is pid 0, which
// names no process.
func KillGroup(pid int) error {
	if pid <= 0 { // to the kernel 0 is our own group
		return nil
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill process group %d: %w", pid, err)
	}
	return nil
}

// signalByPID checks the start time just before it sends: between the two the pid could only be
// reused if the process ended and the whole pid space went round.
func signalByPID(r Ref, sig syscall.Signal) error {
	if !r.Alive() {
		return ErrNotFound
	}
	err := syscall.Kill(r.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		return ErrNotFound
	}
	return err
}

// stat is what the system says of a running process.
type stat struct {
	start    int64
	parent   int   // 0: there is none
	kernel   bool  // a kernel thread, which has no environment
	headless bool  // the main thread has ended, and others run
	ended    bool  // a zombie: its parent has not read its status
	envEnd   int64 // address; 0: unknown, or in the middle of exec
	name     string
}
