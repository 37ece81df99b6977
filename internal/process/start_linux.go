package process

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// children lists those that a part of this process waits for. The lock is held from a fork until its child is listed.
var children = struct {
	sync.Mutex
	awaited map[int]bool
}{awaited: map[int]bool{}}

// Wait waits for what Start has started, as exec.Cmd.Wait does.
func Wait(cmd *exec.Cmd) error {
	defer Collected(cmd.Process.Pid)
	return cmd.Wait()
}

// Collected says that the status of a child has been read by other means than Wait.
func Collected(pid int) {
	children.Lock()
	defer children.Unlock()
	delete(children.awaited, pid)
}

// LimitJobs bounds what the processes of a user other than root, which inherit the limits of this process, can take from
// the machine: no core dump keeps their memory, and they leave a quarter of all process ids to others. Root is not bound.
func LimitJobs() error {
	most, err := MostProcesses()
	var now unix.Rlimit
	err = errors.Join(err, unix.Getrlimit(unix.RLIMIT_NPROC, &now))
	if err == nil {
		most = min(most, now.Max) // a higher one takes CAP_SYS_RESOURCE
		err = errors.Join(unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}), unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
	}
	if err != nil {
		return fmt.Errorf("limit the processes of jobs: %w", err)
	}
	return nil
}

// MostProcesses returns how many processes and threads a job may have: three quarters of what the kernel allows in all
// (proc_sys_kernel(5): pid_max, threads-max).
func MostProcesses() (uint64, error) {
	least := uint64(math.MaxUint64)
	for _, name := range []string{"pid_max", "threads-max"} {
		text, err := os.ReadFile(filepath.Join(procDir, "sys/kernel", name))
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("malformed %s: %w", name, err)
		}
		least = min(least, n)
	}
	return least / 4 * 3, nil
}

// LastPID returns the id of the newest process or thread; -1 if that is not known (proc_loadavg(5)). What does not change
// while processes are listed shows that the listing is complete.
func LastPID() int {
	text, err := os.ReadFile(filepath.Join(procDir, "loadavg"))
	fields := bytes.Fields(text)
	if err != nil || len(fields) == 0 {
		return -1
	}
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return -1
	}
	return pid
}

// Start starts cmd without privileges of this process; the caller calls Wait. cmd gets a new session keyring, because children can write
// into the parent's (session-keyring(7)). It gets the default score for low memory (proc_pid_oom_score_adj(5)). A process that becomes
// another user must not change files secretly. The functions of view, such as Bind, change the file system that cmd sees. They run on the
// thread that starts cmd.
func Start(cmd *exec.Cmd, view ...func() error) error {
	err := onThread(func() (same bool, err error) {
		for _, enter := range view {
			if err := enter(); err != nil {
				return false, err
			}
		}
		_, err = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		if err != nil && !withoutKeys(err) {
			return len(view) == 0, fmt.Errorf("join a session keyring: %w", err)
		}
		same = err != nil && len(view) == 0
		if cmd.SysProcAttr != nil && cmd.SysProcAttr.Credential != nil {
			if same, err = false, keepContent(); err != nil {
				return false, err
			}
		}
		return same, unprotected(scoreFile, func() error { return listed(cmd) })
	})
	if err != nil && cmd.Process != nil { // our own score could not be restored
		_ = cmd.Process.Kill()
		_ = Wait(cmd)
	}
	return err
}

// Bind returns a function for Start. A process started with it sees the folder source at target, and no other process does. Later mounts of
// the machine still appear in its view, and its own mounts stay inside.
func Bind(source, target string) func() error {
	return func() error {
		err := unix.Unshare(unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "")
		}
		if err == nil {
			err = unix.Mount(source, target, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("bind %s over %s: %w", source, target, err)
		}
		return nil
	}
}

// CanBind returns why this process cannot use Bind, for example in a container without CAP_SYS_ADMIN.
func CanBind(source, target string) error {
	return onThread(func() (bool, error) { return false, Bind(source, target)() })
}

// listed starts cmd as a child that Reap leaves alone.
func listed(cmd *exec.Cmd) error {
	children.Lock()
	defer children.Unlock()
	err := cmd.Start()
	if err == nil {
		children.awaited[cmd.Process.Pid] = true
	}
	return err
}

// scoreFile is this process's; a process inherits its parent's score.
const scoreFile = "/proc/self/oom_score_adj"

var scoreLock sync.Mutex

// unprotected calls start while this process has no protection, so that no child of what it starts is ever born with
// it. Written by who may, the score is also the least that the process can give itself again, and a child too.
func unprotected(file string, start func() error) error {
	scoreLock.Lock()
	defer scoreLock.Unlock()
	was, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	score, err := strconv.Atoi(string(bytes.TrimSpace(was)))
	if err != nil {
		return fmt.Errorf("malformed %s: %w", file, err)
	}
	if score >= 0 {
		return start()
	}
	if err := os.WriteFile(file, []byte("0"), 0); err != nil {
		return err
	}
	return errors.Join(start(), os.WriteFile(file, was, 0))
}
