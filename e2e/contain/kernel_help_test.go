package contain

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	helpers["leave"], helpers["seek"] = leave, seek
	helpers["subuid"], helpers["inside"], helpers["map"] = subuid, inside, mapUID
}

// left is the name of what leave leaves, and leftID the key of System V.
const (
	left   = "remuda-left"
	leftID = 0x72656d75
)

// rings are the keyrings that a process of a user reaches: its session's, its user's, its user's session's.
var rings = map[string]int{"@s": unix.KEY_SPEC_SESSION_KEYRING, "@u": unix.KEY_SPEC_USER_KEYRING, "@us": unix.KEY_SPEC_USER_SESSION_KEYRING}

// leave leaves one of each kind that the kernel keeps without a process.
func leave(string) error {
	err := kernel(unix.IPC_CREAT | unix.IPC_EXCL | 0o600)
	for name, ring := range rings {
		if _, kerr := unix.AddKey("user", left+name, []byte("by run A"), ring); kerr != nil && !errors.Is(kerr, unix.ENOSYS) {
			err = errors.Join(err, fmt.Errorf("keyring %s: %w", name, kerr))
		}
	}
	return err
}

// kernel opens or makes shared memory, semaphores and message queues. Its error names each that it did not get.
func kernel(flags int) error {
	_, shm := unix.SysvShmGet(leftID, 4096, flags)
	errs := []error{wrap("shm", shm)}
	for name, call := range map[string][4]uintptr{
		"sem": {unix.SYS_SEMGET, leftID, 1, uintptr(flags)}, "msg": {unix.SYS_MSGGET, leftID, uintptr(flags), 0},
	} {
		if _, _, errno := unix.Syscall(call[0], call[1], call[2], call[3]); errno != 0 {
			errs = append(errs, wrap(name, errno))
		}
	}
	mode := unix.O_RDWR
	if flags&unix.IPC_CREAT != 0 {
		mode |= unix.O_CREAT | unix.O_EXCL
	}
	name, err := unix.BytePtrFromString(left)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), uintptr(mode), 0o600, 0, 0, 0); errno != 0 {
		errs = append(errs, wrap("mq", errno))
	}
	return errors.Join(errs...)
}

func wrap(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// seek tells how many of what leave left are there still. It must have found none of one kind to be believed: each
// missing one is a line.
func seek(string) error {
	missing := 0
	err := kernel(0)
	if err != nil {
		missing = len(strings.Split(err.Error(), "\n"))
	}
	found := []string{fmt.Sprintf("%d of 4 in the kernel", 4-missing)}
	for name, ring := range rings {
		if _, err := unix.KeyctlSearch(ring, "user", left+name, 0); err == nil {
			found = append(found, "a key in "+name)
		}
	}
	return tell("found", strings.Join(found, ", "))
}

// subuid starts a process in a user namespace, which the rooted helper gives a uid as newuidmap(1) would, and cuts it
// off the tree: its own main thread ends. The argument is "path of rooted,uid".
func subuid(argument string) error {
	rooted, host, _ := strings.Cut(argument, ",")
	in, release, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helpEnv + "=inside", tellEnv + "=" + os.Getenv(tellEnv)}
	cmd.Stdin, cmd.ExtraFiles = in, []*os.File{os.NewFile(3, "started")}
	// Rights in the namespace would be lost by execution as no root of it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_SETUID}, Setsid: true}
	if err := cmd.Start(); err != nil {
		return tell("subuid.impossible", err.Error())
	}
	mapping := exec.Command(rooted)
	mapping.Env = []string{fmt.Sprintf("%s=map:%d,%s", helpEnv, cmd.Process.Pid, host)}
	if out, err := mapping.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if _, err := release.WriteString("go"); err != nil {
		return err
	}
	if err := errors.Join(release.Close(), cmd.ExtraFiles[0].Close()); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // keeps the process
	_, _, errno := syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	return errno
}

// mapUID makes a uid of the machine root in the namespace of a process. The argument is "pid,uid".
func mapUID(argument string) error {
	pid, host, _ := strings.Cut(argument, ",")
	return os.WriteFile("/proc/"+pid+"/uid_map", []byte("0 "+host+" 1"), 0)
}

// inside takes its namespace's first uid, and stays.
func inside(string) error {
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		return err
	}
	if err := standing("subuid"); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	return nil
}
