package boundary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// group is a control group, by its folder.
type group string

// hierarchy returns the folder where the hierarchy of version 2 is mounted. In a hybrid one, where version 1 has the
// controllers, it still ends and freezes groups (Linux, admin-guide/cgroup-v2; proc_pid_mountinfo(5)).
func hierarchy() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if where, kind := strings.Fields(before), strings.Fields(after); len(where) > 4 && len(kind) > 0 && kind[0] == "cgroup2" {
			return where[4], nil
		}
	}
	return "", errNoGroups
}

// groupOf returns the group of a process as a path below the hierarchy, "" for its root.
func groupOf(pid string) string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return strings.Trim(path, "/")
		}
	}
	return ""
}

// prefix begins the names of the groups of listeners. They are next to the root of the hierarchy, outside of every unit:
// systemd leaves groups that it did not make alone there, while it could not start the agent again in a unit that has a
// group with processes below it (219/CGROUP).
const prefix = "remuda-"

// openGroup returns the group of an instance's listeners, if this process can make and end it.
func openGroup(instance string) (group, error) {
	root, err := hierarchy()
	if err != nil {
		return "", err
	}
	g := group(filepath.Join(root, prefix+instance))
	if err := canStartInGroup(); err != nil {
		return "", fmt.Errorf("start a process in a group: %w", err)
	}
	if err := os.Mkdir(string(g), 0o755); errors.Is(err, fs.ErrExist) {
		return g, nil // an earlier agent's, which may still hold a listener
	} else if err != nil {
		return "", err
	}
	_, err = os.Stat(g.file("cgroup.kill")) // since Linux 5.14
	return g, errors.Join(err, unix.Rmdir(string(g)))
}

// canStartInGroup returns why this process cannot call clone3(2) with CLONE_INTO_CGROUP. The kernel checks the descriptor of the
// group last, and this descriptor is not open, so no process is started.
func canStartInGroup() error {
	args := [11]uint64{0: unix.CLONE_INTO_CGROUP, 4: uint64(unix.SIGCHLD), 10: 1 << 30}
	_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno == unix.EBADF {
		return nil
	}
	return errno
}

func (g group) file(name string) string { return filepath.Join(string(g), name) }

// set writes a value into a file of the group.
func (g group) set(name, value string) error {
	f, err := os.OpenFile(g.file(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// event reads a value of cgroup.events. A group that is gone has none.
func (g group) event(name string) (bool, error) {
	text, err := os.ReadFile(g.file("cgroup.events"))
	if gone(err) {
		return false, nil
	}
	return slices.Contains(strings.Split(string(text), "\n"), name+" 1"), err
}

// gone reports whether a group is not there any more.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) }

// Start implements Boundary.
func (g group) Start(ctx context.Context, cmd *exec.Cmd, view ...func() error) (process.Ref, error) {
	if err := g.End(ctx); err != nil {
		return process.Ref{}, err
	}
	err := os.Mkdir(string(g), 0o755)
	if err == nil {
		err = g.limit()
	}
	if err != nil {
		return process.Ref{}, err
	}
	dir, err := os.Open(string(g))
	if err != nil {
		return process.Ref{}, err
	}
	defer dir.Close()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	if err := process.Start(cmd, view...); err != nil {
		return process.Ref{}, errors.Join(err, g.End(ctx))
	}
	return refOf(cmd), nil
}

// agentMemory is what stays for the agent of the memory that its own group may use.
const agentMemory = 64 << 20

// limit leaves room for the agent where version 2 has the controllers: of process ids, and of memory if the operator has
// limited the agent's unit, in which jobs ran before they had a group of their own.
func (g group) limit() error {
	if most, err := process.MostProcesses(); err != nil {
		return err
	} else if err := g.setIfThere("pids.max", most); err != nil {
		return err
	}
	root := filepath.Dir(string(g))
	text, _ := os.ReadFile(filepath.Join(root, groupOf("self"), "memory.max")) // empty without the controller
	memory, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)    // 0 of "max", too
	if memory <= 2*agentMemory {
		return nil
	}
	return g.setIfThere("memory.max", memory-agentMemory)
}

func (g group) setIfThere(name string, value uint64) error {
	err := g.set(name, strconv.FormatUint(value, 10))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Wait implements Boundary.
func (g group) Wait(ref process.Ref) (int, bool) { return wait(ref) }

// Services implements Boundary.
func (g group) Services() bool { return true }

// Name implements Boundary.
func (g group) Name() string { return groupKind + string(g) }

// Resume implements Boundary: the name of an instance's group never changes. What another kind of boundary holds ends.
func (g group) Resume(name string) {
	if ref, ok := kindOf(name, namespaceKind); ok {
		_ = process.KillAll(parseRef(ref)) // its end is proved by the search for marked processes
	}
}

// Kill implements Boundary.
func (g group) Kill() error {
	if err := g.set("cgroup.kill", "1"); err != nil && !gone(err) {
		return fmt.Errorf("kill control group %s: %w", filepath.Base(string(g)), err)
	}
	return nil
}

// killLooks is how many looks after cgroup.kill the rest of a group is frozen and killed one by one for the first time.
const killLooks = 16

// empty kills all that is in the group and waits until nothing is. cgroup.kill does not end a process whose main thread
// has ended, since it signals that thread alone (Linux 6.18, __cgroup_kill). Such a process is frozen, so that it cannot fork,
// and killed by its id.
func (g group) empty(ctx context.Context) error {
	if err := g.Kill(); err != nil {
		return err
	}
	looks := 0
	err := until(ctx, "processes of control group "+filepath.Base(string(g))+" end", func() (bool, error) {
		populated, err := g.event("populated")
		if looks++; populated && err == nil && looks >= killLooks && looks&(looks-1) == 0 { // thousands may be about to end
			err = g.killListed()
		}
		return !populated, err
	})
	if looks < killLooks {
		return err
	}
	return errors.Join(err, g.freeze("0"))
}

// killListed freezes the group and kills the processes in it by their ids.
func (g group) killListed() error {
	if err := g.freeze("1"); err != nil {
		return err
	}
	for _, each := range append([]group{g}, g.below()...) {
		text, err := os.ReadFile(each.file("cgroup.procs"))
		if err != nil && !gone(err) {
			return fmt.Errorf("list control group %s: %w", filepath.Base(string(g)), err)
		}
		for id := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(id); err == nil && pid > 0 {
				if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
					return fmt.Errorf("kill process %d of control group %s: %w", pid, filepath.Base(string(g)), err)
				}
			}
		}
	}
	return nil
}

// freeze sets whether the group is frozen.
func (g group) freeze(value string) error {
	if err := g.set("cgroup.freeze", value); err != nil && !gone(err) {
		return fmt.Errorf("freeze or thaw control group %s: %w", g, err)
	}
	return nil
}

// End implements Boundary. The group goes, too, with those that root may have made in it.
func (g group) End(ctx context.Context) error {
	if err := g.empty(ctx); err != nil {
		return err
	}
	return until(ctx, "control group "+filepath.Base(string(g))+" is removed", g.remove)
}

// remove removes the group with all below it. It is false if a process is still in one.
func (g group) remove() (bool, error) {
	for _, below := range slices.Backward(append([]group{g}, g.below()...)) {
		switch err := unix.Rmdir(string(below)); {
		case errors.Is(err, unix.EBUSY):
			return false, nil
		case err != nil && !gone(err):
			return false, err
		}
	}
	return true, nil
}

// below returns the groups below one, each before those below it.
func (g group) below() (all []group) {
	_ = filepath.WalkDir(string(g), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != string(g) {
			all = append(all, group(path))
		}
		return nil // one that cannot be read has gone
	})
	return all
}

// Sweep ends the processes that an instance of this computer left in its control group, if there are any, thaws what its agent
// left frozen, and reports whether the group is gone. It does not wait. dir is the folder of the instance.
func Sweep(instance, dir string) (bool, error) {
	if err := Thaw(dir); err != nil {
		return false, err
	}
	root, err := hierarchy()
	if errors.Is(err, errNoGroups) {
		return true, nil
	}
	g := group(filepath.Join(root, prefix+instance))
	if _, serr := os.Stat(string(g)); err != nil || gone(serr) {
		return err == nil, err
	}
	if err := errors.Join(g.Kill(), g.killListed()); err != nil {
		return false, err
	}
	return g.remove()
}
