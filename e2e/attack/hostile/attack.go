//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// kinds are the attacks. Each runs in a separate process, whose parent, session and environment are not the job's. The process has its
// lifeline and its uids. The function returns when the test closes the lifeline, or never.
var kinds = map[string]func(options) error{
	"chain":   chains,  // processes that fork and end
	"bomb":    chains,  // the same with a count: all that they leave is zombies
	"stay":    stay,    // waits
	"deaf":    deaf,    // ignores each signal
	"stopped": stopped, // is stopped by SIGSTOP
	"traced":  traced,  // is traced by its parent, which never lets it go on, or end
	"vfork":   vfork,   // waits for a child that shares its memory until the child's end
	"ghost":   ghost,   // has ended its main thread
	"orphans": orphans, // many processes whose parent has ended
}

// leave starts an attack that has nothing of the job, and returns once it stands.
func leave(o options) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if o.ns == "mapped" {
		_, err = o.namespaced("attack", w)
	} else {
		path := o.plain
		if o.as != "user" {
			path = o.file
		}
		cmd := exec.Command(path, o.args("attack")...)
		cmd.Env, cmd.Stderr, cmd.ExtraFiles = []string{}, os.Stderr, []*os.File{w}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Start()
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	said, err := io.ReadAll(r)
	if err == nil && string(said) != "stands" {
		err = errors.New("the attack ended before it stood")
	}
	return err
}

// attack is the process that leave has started.
func attack(o options) error {
	syscall.CloseOnExec(startedFD)
	if o.ns == "mapped" {
		if err := mapped(); err != nil {
			return err
		}
	}
	if err := o.become(); err != nil {
		return err
	}
	if o.ns == "own" { // the subordinate user's own namespace
		return o.inOwn()
	}
	if err := o.dial(); err != nil {
		return err
	}
	do := kinds[o.kind]
	if do == nil {
		return fmt.Errorf("-kind: no attack %q", o.kind)
	}
	return do(o)
}

// inOwn starts the attack in a user namespace that this user makes.
func (o options) inOwn() error {
	uid, gid := os.Getuid(), os.Getgid()
	o.ns, o.as = "", "user"
	cmd := exec.Command(o.plain, o.args("attack")...)
	cmd.Env, cmd.Stderr, cmd.ExtraFiles = []string{}, os.Stderr, []*os.File{os.NewFile(startedFD, "started")}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: []syscall.SysProcIDMap{{HostID: uid, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: gid, Size: 1}},
	}
	return cmd.Start()
}

// stands reports to leave that the attack stands. Nothing of leave is left in the process then.
func stands() error {
	_, err := unix.Write(startedFD, []byte("stands"))
	null, oerr := unix.Open(os.DevNull, unix.O_RDWR, 0)
	if err := errors.Join(err, oerr, unix.Close(startedFD)); err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup2(null, fd); err != nil {
			return err
		}
	}
	return nil
}

func stay(options) error {
	if err := stands(); err != nil {
		return err
	}
	return waitForEnd()
}

func deaf(o options) error {
	signal.Ignore()
	return stay(o)
}

func stopped(o options) error {
	if err := stands(); err != nil {
		return err
	}
	if err := unix.Kill(os.Getpid(), unix.SIGSTOP); err != nil {
		return err
	}
	return waitForEnd()
}

// ghost ends its main thread: the kernel shows it as a zombie, while its other threads run.
func ghost(o options) error {
	go func() {
		for ended := false; !ended; {
			text, err := os.ReadFile("/proc/self/stat")
			ended = err != nil || isZombie(text)
			runtime.Gosched()
		}
		_ = stay(o) // nobody is left to read it
		os.Exit(0)
	}()
	_, _, errno := syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) // the scheduler must see it
	return errno
}

func isZombie(stat []byte) bool {
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] == 'Z'
		}
	}
	return false
}
