//go:build linux

package main

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file fork, and the Go runtime does not know. The new process has one thread, and the runtime does not work in
// it. The process may only make raw system calls and call functions without a stack check (nosplit), and must not allocate.

// fork is fork(2), with more flags of clone(2).
//
//go:nosplit
func fork(flags uintptr) (pid uintptr, errno unix.Errno) {
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|flags, 0, 0, 0, 0, 0)
	return pid, errno
}

//go:nosplit
func end() {
	for {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// watch reads the lifeline without waiting for it, or with: 1 if the test asks for tokens, 0 if it is closed, -1 if neither.
//
//go:nosplit
func watch(flags uintptr) int {
	var b [1]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, lineFD, uintptr(unsafe.Pointer(&b)), 1, flags, 0, 0)
	switch errno {
	case 0:
		return int(n)
	case unix.EAGAIN, unix.EINTR:
		return -1
	default:
		return 0
	}
}

// link is what each process of a chain does, made beforehand.
type link struct {
	life       unix.Timespec
	left       int // links; below 0: no end
	path       *byte
	argv, envp []*byte
}

// run is a process of a chain, and never returns: it lives, forks the next and ends.
//
//go:nosplit
func (l *link) run() {
	for {
		if l.life.Sec|l.life.Nsec != 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&l.life)), 0, 0)
		}
		switch watch(unix.MSG_DONTWAIT) {
		case 0:
			end()
		case 1: // the file that this process came from may be removed by now: plain is not
			_, _, _ = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(l.path)), uintptr(unsafe.Pointer(&l.argv[0])), uintptr(unsafe.Pointer(&l.envp[0])))
			end()
		}
		if l.left == 0 {
			end()
		}
		l.left--
		if pid, errno := fork(0); errno == 0 && pid != 0 {
			end()
		} // a process that could not fork is the next link itself
	}
}

// maxProcesses limits the processes of one uid, zombies included.
const maxProcesses = 16_000

// chains forks chains, and ends.
func chains(o options) error {
	path, err := unix.BytePtrFromString(o.plain)
	if err != nil {
		return err
	}
	verb, err := unix.BytePtrFromString("steal")
	if err != nil {
		return err
	}
	l := &link{life: unix.NsecToTimespec(int64(o.life)), left: o.count - 1, path: path, argv: []*byte{path, verb, nil}, envp: []*byte{nil}}
	// A sleep is as long as it says: the kernel would add 50 µs.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return err
	}
	// An agent that does not reap must not use up the process ids of the computer, which other tests need.
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: maxProcesses, Max: maxProcesses}); err != nil {
		return err
	}
	for range o.wide {
		pid, errno := fork(0)
		if errno != 0 {
			return fmt.Errorf("fork: %w", errno)
		}
		if pid == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, startedFD, 0, 0)
			for fd := range uintptr(3) {
				_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
			}
			l.run()
		}
	}
	return stands()
}

// orphans forks processes that wait for ever, and ends.
func orphans(o options) error {
	for range o.wide {
		pid, errno := fork(0)
		for ; errno == unix.EAGAIN; pid, errno = fork(0) {
			time.Sleep(time.Millisecond)
		}
		if errno != 0 {
			return fmt.Errorf("fork: %w", errno)
		}
		if pid == 0 {
			for fd := range uintptr(startedFD + 1) {
				_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
			}
			for watch(0) != 0 {
			}
			end()
		}
	}
	return stands()
}

// vfork waits in the kernel for a child, which does not end.
func vfork(options) error {
	if err := stands(); err != nil {
		return err
	}
	pid, errno := fork(unix.CLONE_VFORK)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for watch(0) != 0 {
		}
		end()
	}
	return nil
}

// traced traces a child. The child is stopped, and would stop again when it exits.
func traced(options) error {
	pid, errno := fork(0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, startedFD, 0, 0)
		_, _, _ = unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
		self, _, _ := unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
		_, _, _ = unix.RawSyscall(unix.SYS_KILL, self, uintptr(unix.SIGSTOP), 0)
		end()
	}
	if _, err := unix.Wait4(int(pid), nil, unix.WUNTRACED, nil); err != nil {
		return fmt.Errorf("wait for the traced process: %w", err)
	}
	if err := unix.PtraceSetOptions(int(pid), unix.PTRACE_O_TRACEEXIT); err != nil {
		return fmt.Errorf("trace the end of the traced process: %w", err)
	}
	if err := stands(); err != nil {
		return err
	}
	return waitForEnd()
}
