//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaced starts a command of this program in a new user namespace. The namespace maps uid 0 to the uid of this process, and uid 1
// to the subordinate one. The command waits for the maps: see mapped.
func (o options) namespaced(command string, files ...*os.File) (*exec.Cmd, error) {
	in, release, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	defer release.Close() // which lets the command go on
	cmd := exec.Command(o.plain, o.args(command)...)
	cmd.Env, cmd.Stdin, cmd.Stderr, cmd.ExtraFiles = []string{}, in, os.Stderr, files
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, Setsid: true,
		// The maps come after the execution, which would take all other rights.
		AmbientCaps: []uintptr{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_FSETID},
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start in a user namespace: %w", err)
	}
	pid, uid, gid, sub := strconv.Itoa(cmd.Process.Pid), strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid()), strconv.Itoa(o.sub)
	mappers := [][]string{{"newuidmap", pid, "0", uid, "1", "1", sub, "1"}, {"newgidmap", pid, "0", gid, "1"}}
	if o.mapper != "" {
		mappers = [][]string{{o.mapper, "map", "-name", pid, "-sub", sub}}
	}
	for _, mapper := range mappers {
		if out, err := exec.Command(mapper[0], mapper[1:]...).CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("%v: %w: %s", mapper, err, out), cmd.Process.Kill(), cmd.Wait())
		}
	}
	return cmd, nil
}

// mapped waits for the maps of this process's namespace.
func mapped() error {
	_, err := io.ReadAll(os.Stdin)
	return err
}

// mapIDs writes the maps of the process that name says. It runs as root by its set-uid bit, and its real uid is the job's.
func mapIDs(o options) error {
	uids := fmt.Sprintf("0 %d 1\n1 %d 1\n", os.Getuid(), o.sub)
	return errors.Join(os.WriteFile("/proc/"+o.name+"/uid_map", []byte(uids), 0),
		os.WriteFile("/proc/"+o.name+"/gid_map", fmt.Appendf(nil, "0 %d 1\n", os.Getgid()), 0))
}

// arm makes a copy of this program that is set-uid to the subordinate user, as any user with a range in /etc/subuid can.
func arm(o options) error {
	text, err := os.ReadFile(o.plain)
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.file, text, 0o755); err != nil {
		return err
	}
	cmd, err := o.namespaced("own")
	if err != nil {
		return err
	}
	return cmd.Wait()
}

func own(o options) error {
	if err := mapped(); err != nil {
		return err
	}
	if err := os.Chown(o.file, 1, -1); err != nil {
		return err
	}
	return os.Chmod(o.file, 0o755|os.ModeSetuid)
}

// become takes the uids of an attack. In the machine's own namespace this process is of the set-uid file, and half of it stays the job's
// user: its real and its saved uid are the subordinate one, and the effective one is the job's.
func (o options) become() error {
	var err error
	real, _, saved := unix.Getresuid()
	if o.ns == "mapped" {
		real, saved = 0, 1
	}
	switch o.as {
	case "user":
		return nil
	case "half":
		err = syscall.Setresuid(saved, real, saved)
	case "sub":
		err = syscall.Setresuid(saved, saved, saved)
	default:
		return fmt.Errorf("-as: must be user, half or sub, got %q", o.as)
	}
	if err == nil && saved == real {
		err = fmt.Errorf("file %s is not set-uid to the subordinate user", o.file)
	}
	// A change of uids hides a process from others of the same uids.
	return errors.Join(err, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
}
