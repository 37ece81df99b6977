package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// RemoveIPC removes what the user's processes left in the kernel for others to find: memory, semaphores and
// message queues of System V (sysvipc(7)), message queues of POSIX (mq_overview(7)). It is called when they have
// ended, and an error means that something is left.
func (u User) RemoveIPC() error {
	for kind, remove := range map[string]func(id int) error{
		"shm": func(id int) error { _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); return err },
		"sem": func(id int) error { return removeSysV(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) },
		"msg": func(id int) error { return removeSysV(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) },
	} {
		ids, err := u.sysV(kind)
		for _, id := range ids {
			if rerr := remove(id); !errors.Is(rerr, unix.EINVAL) && !errors.Is(rerr, unix.EIDRM) { // gone already
				err = errors.Join(err, rerr)
			}
		}
		if err == nil && len(ids) > 0 {
			if ids, err = u.sysV(kind); len(ids) > 0 {
				err = fmt.Errorf("%d are left, one is %d", len(ids), ids[0])
			}
		}
		if err != nil {
			return fmt.Errorf("remove %s of user %d: %w", kind, u.UID, err)
		}
	}
	if err := u.removeQueues(); err != nil {
		return fmt.Errorf("remove message queues of user %d: %w", u.UID, err)
	}
	return nil
}

func removeSysV(call uintptr, id int, more ...uintptr) error {
	if _, _, errno := unix.Syscall(call, uintptr(id), more[0], more[1]); errno != 0 {
		return errno
	}
	return nil
}

// sysV lists what of one kind the user owns or made, in the kernel's table: its first line names the columns.
func (u User) sysV(kind string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(procDir, "sysvipc", kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a kernel without them
	}
	if err != nil {
		return nil, err
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	columns := strings.Fields(head)
	var ids []int
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) != len(columns) {
			return nil, fmt.Errorf("malformed line %q", line)
		}
		id, mine := -1, false
		for i, column := range columns {
			n, err := strconv.Atoi(fields[i])
			switch column {
			case "shmid", "semid", "msqid":
				if err != nil {
					return nil, fmt.Errorf("malformed line %q", line)
				}
				id = n
			case "uid", "cuid":
				mine = mine || err == nil && u.Owns(n)
			}
		}
		if mine {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// queueFolder is where systems show the message queues of POSIX, and queueMagic what statfs(2) says of it then
// (MQUEUE_MAGIC of the kernel's ipc/mqueue.c).
const (
	queueFolder = "/dev/mqueue"
	queueMagic  = 0x19800202
)

func (u User) removeQueues() error {
	view, err := queues()
	if errors.Is(err, unix.ENODEV) {
		return nil // a kernel without them
	}
	if err != nil {
		return err
	}
	fd, err := unix.Openat(view, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), queueFolder)
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		var st unix.Stat_t
		serr := unix.Fstatat(view, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if serr == nil && u.Owns(int(st.Uid)) {
			serr = unix.Unlinkat(view, name, 0)
		}
		if !errors.Is(serr, unix.ENOENT) {
			err = errors.Join(err, serr)
		}
	}
	return err
}

// queues opens a view of the message queues that no other process has, or that of the system where none may be made. It
// stays open: the end of a view waits for every processor.
var queues = sync.OnceValues(func() (view int, err error) {
	fd, err := unix.Fsopen("mqueue", unix.FSOPEN_CLOEXEC)
	if err == nil {
		defer unix.Close(fd)
		if err = unix.FsconfigCreate(fd); err == nil {
			view, err = unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, 0)
		}
	}
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) { // a container, a kernel before 5.2
		return view, err
	}
	var st unix.Statfs_t
	if serr := unix.Statfs(queueFolder, &st); serr != nil || st.Type != queueMagic {
		return 0, errors.Join(err, serr, fmt.Errorf("%s does not show them", queueFolder))
	}
	return unix.Open(queueFolder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
})
