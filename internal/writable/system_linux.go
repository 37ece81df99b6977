package writable

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// inMemory are the file systems that files are kept on though no device is under them: of all others without one,
// such as proc or NFS, what is on them is the kernel's, or another machine's.
var inMemory = []string{"tmpfs", "devtmpfs", "ramfs", "overlay", "zfs"}

// Foreign returns the folders that Record does not enter, because a file system is mounted there that is read-only, or that is not
// on a disk or in the memory of this machine.
func Foreign() (map[string]bool, error) {
	skip := map[string]bool{}
	types, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	without := withoutDevice(string(types))
	for line := range strings.Lines(string(mounts)) {
		point, readOnly, kind, ok := mount(line)
		if !ok {
			return nil, fmt.Errorf("/proc/self/mountinfo: cannot read %q", strings.TrimSpace(line))
		}
		skip[point] = readOnly || without[kind] // of several at one place the last is seen
	}
	return skip, nil
}

// withoutDevice reads /proc/filesystems (filesystems(5)).
func withoutDevice(text string) map[string]bool {
	kinds := map[string]bool{}
	for line := range strings.Lines(text) {
		if kind, ok := strings.CutPrefix(strings.TrimSpace(line), "nodev"); ok {
			kind = strings.TrimSpace(kind)
			kinds[kind] = !slices.Contains(inMemory, kind)
		}
	}
	return kinds
}

// mount reads a line of /proc/self/mountinfo (proc_pid_mountinfo(5)): mount point and options in the fifth and sixth
// field, the type after a lone hyphen. A type such as fuse.sshfs is one of fuse.
func mount(line string) (point string, readOnly bool, kind string, ok bool) {
	before, after, _ := strings.Cut(line, " - ")
	f, rest := strings.Fields(before), strings.Fields(after)
	if len(f) < 6 || len(rest) < 1 {
		return "", false, "", false
	}
	kind, _, _ = strings.Cut(rest[0], ".")
	return unescape(f[4]), slices.Contains(strings.Split(f[5], ","), "ro"), kind, true
}

// unescape reads the kernel's way to write white space and backslashes: three octal digits.
func unescape(s string) string {
	return escaped().ReplaceAllStringFunc(s, func(code string) string {
		n, _ := strconv.ParseUint(code[1:], 8, 8) // it has the form
		return string([]byte{byte(n)})
	})
}

var escaped = lazyregexp.New(`\\[0-3][0-7]{2}`)

// awaitTick returns once the kernel would give a change another time than it gave the last one, since its clock
// for that is a coarse one (clock_getres(2)): 1 to 10 ms.
func awaitTick(ctx context.Context) error {
	var began, now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &began); err != nil {
		return err
	}
	ticker := time.NewTicker(time.Millisecond) //nolint:forbidigo // it waits for the kernel's clock
	defer ticker.Stop()
	for now = began; now == began; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			return err
		}
	}
	return nil
}

// noAttribute is the error for an extended attribute that does not exist.
const noAttribute = unix.ENODATA

const (
	getXAttr = 0x801c581f // FS_IOC_FSGETXATTR (linux/fs.h)
	// ownFlags are flags that a file system changes by itself, for example when a folder grows: EXT4_INDEX_FL, EXT4_HUGE_FILE_FL,
	// EXT4_EXTENTS_FL, EXT4_EA_INODE_FL, EXT4_INLINE_DATA_FL, FS_DIRTY_FL and FS_COMPRBLK_FL.
	ownFlags = 0x1000 | 0x40000 | 0x80000 | 0x200000 | 0x10000000 | 0x100 | 0x200
	// hasAttributes is FS_XFLAG_HASATTR. It can stay set after the last extended attribute is removed.
	hasAttributes = 0x80000000
)

// inodeOf describes flags, extent sizes and project id of an inode. If a file system does not support a request, these properties
// are zero and cannot be changed.
func inodeOf(fd int) []byte {
	var x struct { // struct fsxattr
		flags, extentSize, extents, project, copyExtentSize uint32
		_                                                   [8]byte
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), getXAttr, uintptr(unsafe.Pointer(&x)))
	flags, _ := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	return fmt.Appendf(nil, "%x %x %d %d %d", flags&^ownFlags, x.flags&^hasAttributes, x.extentSize, x.project, x.copyExtentSize)
}

// statIn is fstatat(2) of a name that ends with a zero byte, without following a link. It does not show the scheduler
// of the call, a seventh of its price: where the disk has to be asked, others wait for that millisecond.
func statIn(dir int, name []byte, st *unix.Stat_t) error {
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
