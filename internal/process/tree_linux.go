package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of every descendant whose own parent ended, so that
// Descendants finds what left its group, session and environment. It holds for the life of this
// process; those that it leaves behind go to the next such process above, and Descendants of a
// successor does not find them: User.Kill and User.Processes do. The caller must also call Reap.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphaned processes: %w", err)
	}
	return nil
}

// table lists the processes, kernel threads and zombies included.
func table() ([]entry, error) {
	var all []entry
	err := eachStat(func(pid int, line []byte) {
		if st, err := parseStat(line); err == nil {
			all = append(all, entry{stat: st, ref: Ref{PID: pid, Start: st.start}})
		}
	})
	return all, err
}

// eachStat calls yield with the stat line of every process, zombies included.
func eachStat(yield func(pid int, line []byte)) error {
	dir, err := os.Open(procDir)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		line, err := readProc(pid, "stat")
		switch {
		case gone(err), errors.Is(err, os.ErrPermission): // what we may not read is not ours
		case err != nil:
			return fmt.Errorf("list processes: %w", err)
		default:
			yield(pid, line)
		}
	}
	return nil
}

// Reap reads the status of every child that has ended and for which no part of this process waits, so that no zombie
// stays: those are adopted. A child counts as waited for from Start to Wait or Collected.
func Reap() error {
	children.Lock()
	defer children.Unlock()
	for {
		pid, err := endedChild()
		if err != nil {
			return fmt.Errorf("find children that have ended: %w", err)
		}
		if pid == 0 {
			return nil
		}
		if !children.awaited[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // another thread may have been quicker
			continue
		}
		return reapOthers() // the kernel names this one until its waiter has read its status
	}
}

// endedChild returns a child that has ended, without reading its status; 0: there is none.
func endedChild() (int, error) {
	var info struct {
		_   [siginfoPID]byte
		pid int32
		_   [128 - siginfoPID - 4]byte // SI_MAX_SIZE
	}
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
		switch errno {
		case 0:
			return int(info.pid), nil
		case unix.ECHILD:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// siginfoPID is where siginfo_t of 64-bit systems holds the process id (sigaction(2)).
const siginfoPID = 16

// reapOthers is Reap by a listing of all processes.
func reapOthers() error {
	all, err := table()
	for _, e := range all {
		if e.ended && e.parent == os.Getpid() && !children.awaited[e.ref.PID] {
			_, _ = unix.Wait4(e.ref.PID, nil, unix.WNOHANG, nil) // as above
		}
	}
	return err
}
