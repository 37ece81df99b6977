package process

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// runs reports whether a process is the user's. It reads /proc/<pid>/status: the owner of the folder is root for
// a process that hid its memory.
func (u User) runs(pid int) bool {
	text, err := readProc(pid, "status")
	if err != nil {
		return false // ended
	}
	_, rest, _ := bytes.Cut(text, []byte("\nUid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	ids := bytes.Fields(line) // real, effective, saved, file system (proc_pid_status(5))
	return slices.ContainsFunc(ids, func(id []byte) bool {
		n, err := strconv.Atoi(string(id))
		return err == nil && u.Owns(n)
	}) || u.madeNamespaceOf(pid)
}

// madeNamespaceOf reports whether the user namespace of a process, or one above it, was made by the user
// (ioctl_ns(2)). There its uids may be any.
func (u User) madeNamespaceOf(pid int) bool {
	file := filepath.Join(procDir, strconv.Itoa(pid), "ns/user")
	its, err := os.Readlink(file)
	ours, oerr := os.Readlink(filepath.Join(procDir, "self/ns/user"))
	if err != nil || oerr == nil && its == ours {
		return false // ended, or a kernel without them
	}
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == nil {
		var owner uint32
		if owner, err = unix.IoctlGetUint32(fd, unix.NS_GET_OWNER_UID); err == nil && u.Owns(int(owner)) {
			_ = unix.Close(fd) // nothing was written
			return true
		}
		var above int
		above, err = unix.IoctlRetInt(fd, unix.NS_GET_PARENT) // an error above our own
		_ = unix.Close(fd)                                    // nor here
		fd = above
	}
	return false
}

// loginOf returns who logged in to begin a process, -1 for no one.
func loginOf(pid int) int {
	text, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "loginuid"))
	if err != nil {
		return -1 // ended, or a kernel without it
	}
	uid, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 32)
	if err != nil || uid == math.MaxUint32 {
		return -1
	}
	return int(uid)
}

// Kill sends SIGKILL to all that runs as the user, and to all in user namespaces that the user made, but for this
// process. The kernel does it at once: nothing can fork out of it. What has changed its uid otherwise is not met.
// It does not wait for their end.
func (u User) Kill() error {
	err := u.doAs(nobody, func() error {
		if err := unix.Kill(-1, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("kill processes of user %d: %w", u.UID, err)
	}
	return nil
}

// do calls f on a thread that is the user, with no right of ours: to the kernel each thread has credentials of its
// own (nptl(7)), and a process of the user's own could be stopped by others of that user. The saved uid stays ours,
// so that the thread can be used again and none of the user may trace it (ptrace(2)).
func (u User) do(f func() error) error { return u.doAs(u.UID, f) }

// nobody is a uid that no system gives away, next to the highest, which is that of nobody at some file servers. A
// thread of which it is the real one, and the user's only the effective, has the user's right to send signals, and
// gets none of the user's (kill(2)). What else runs as this uid ends with the user's.
const nobody = math.MaxUint32 - 2

// doAs is do with another real uid, if this user namespace has it.
func (u User) doAs(ruid int, f func() error) error {
	if u.UID <= 0 || u.UID == os.Getuid() || u.UID == os.Geteuid() {
		return fmt.Errorf("%w: %d", ErrNotAlone, u.UID)
	}
	return onThread(func() (same bool, err error) {
		ours := unix.Geteuid()
		err = setUIDs(ruid, u.UID, ours)
		if errors.Is(err, unix.EINVAL) {
			err = setUIDs(u.UID, u.UID, ours)
		}
		if err != nil {
			return true, fmt.Errorf("become user %d: %w", u.UID, err)
		}
		err = rightless()
		if err == nil {
			err = f()
		}
		back := setUIDs(ours, ours, ours)
		return back == nil, errors.Join(err, back)
	})
}

// setUIDs is not unix.Setresuid, which changes every thread.
func setUIDs(ruid, euid, suid int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(ruid), uintptr(euid), uintptr(suid)); errno != 0 {
		return errno
	}
	return nil
}

// rightless makes sure that this thread has no right of root's: to kill as the user is to kill all with one.
func rightless() error {
	var caps [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	ruid, _, _ := unix.RawSyscall(unix.SYS_GETUID, 0, 0, 0)
	euid, _, _ := unix.RawSyscall(unix.SYS_GETEUID, 0, 0, 0)
	if ruid == 0 || euid == 0 || caps[0].Effective|caps[1].Effective != 0 {
		return fmt.Errorf("rights are left: users %d and %d, capabilities %x %x", ruid, euid, caps[1].Effective, caps[0].Effective)
	}
	return nil
}

// onThread calls f on a thread that nothing else uses meanwhile, and that ends unless f says that it is the same as
// before. It is never the main one, which would not end, and is shown as the process.
func onThread(f func() (same bool, err error)) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // a thread that is not unlocked ends with its goroutine
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onThread(f) // this one is taken meanwhile
			return
		}
		same, err := f()
		if same {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}
