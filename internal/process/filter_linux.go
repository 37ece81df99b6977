package process

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of ioctl(2) that put other content into a file and leave the kernel's time of its last change, which is
// how a changed file is known: a user who may write two files can exchange what is in them (XFS_IOC_SWAPEXT of XFS), or
// empty blocks of one (EXT4_IOC_MOVE_EXT of ext4). They are known by their lower half: type and number, without the
// size, which programs of 32 bits have otherwise (ioctl(2)).
const (
	xfsSwapExtents = 'X'<<8 | 109 // fs/xfs/libxfs/xfs_fs.h
	ext4MoveExtent = 'f'<<8 | 15  // include/uapi/linux/ext4.h
)

// The numbers of ioctl(2) for programs that are not of the kernel's own kind: x86 and ARM of 32 bits, and x32
// (arch/x86/entry/syscalls, arch/arm/tools/syscall.tbl).
const (
	ioctlOf32 = 54
	ioctlX32  = 0x40000000 + 514
)

// Where a filter finds what it looks at (struct seccomp_data, seccomp(2)); of an argument the lower half.
const (
	atNumber  = 0
	atMachine = 4
	atRequest = 24
)

// keepContent lets this thread, and all that it starts, do none of these. Who may not have a filter, or has a kernel
// without them, goes without. What others start for the same user has none: the service manager, cron.
func keepContent() error {
	const load, equal = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	program := [...]unix.SockFilter{
		{Code: load, K: atMachine},
		{Code: equal, K: unix.AUDIT_ARCH_I386, Jt: 4},
		{Code: equal, K: unix.AUDIT_ARCH_ARM, Jt: 3},
		{Code: load, K: atNumber},
		{Code: equal, K: unix.SYS_IOCTL, Jt: 3},
		{Code: equal, K: ioctlX32, Jt: 2, Jf: 6},
		{Code: load, K: atNumber}, // of 32 bits
		{Code: equal, K: ioctlOf32, Jf: 4},
		{Code: load, K: atRequest},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xffff},
		{Code: equal, K: xfsSwapExtents, Jt: 2},
		{Code: equal, K: ext4MoveExtent, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&filter)))
	switch {
	case errno == 0, errors.Is(errno, unix.EACCES), errors.Is(errno, unix.EPERM), errors.Is(errno, unix.ENOSYS), errors.Is(errno, unix.EINVAL):
		return nil
	}
	return fmt.Errorf("filter system calls: %w", errno)
}
