//go:build unix

package writable

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// attributes are properties of a folder that stat(2) does not show. They are extended attributes by name, including access control lists.
// The key inodeAttribute holds the flags that ioctl(2) returns.
type attributes map[string][]byte

const inodeAttribute = "inode"

func (a attributes) equal(b attributes) bool { return maps.EqualFunc(a, b, bytes.Equal) }

// attributesOf reads the attributes of an open folder.
func attributesOf(fd int) (attributes, error) {
	a := attributes{inodeAttribute: inodeOf(fd)}
	names, err := grow(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	for name := range strings.FieldsFuncSeq(string(names), func(r rune) bool { return r == 0 }) {
		if err == nil {
			a[name], err = grow(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read extended attributes: %w", err)
	}
	return a, nil
}

// grow calls read with a larger buffer until the result fits. The kernel limits a list of names and a value to 64 KiB each. A file
// system without extended attributes has none.
func grow(read func([]byte) (int, error)) ([]byte, error) {
	for size := 1 << 8; ; size <<= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		switch {
		case errors.Is(err, unix.ERANGE) && size < 1<<16:
		case errors.Is(err, unix.ENOTSUP):
			return nil, nil
		default:
			return buf[:max(n, 0)], err
		}
	}
}

// SetAccess gives a new folder its owner and mode, and removes the access control lists that it inherited from the folder above.
func SetAccess(dir *os.File, mode os.FileMode, uid, gid int) error {
	for _, list := range []string{aclAttribute, "system.posix_acl_default"} {
		if err := unix.Fremovexattr(int(dir.Fd()), list); err != nil && !errors.Is(err, noAttribute) && !errors.Is(err, unix.ENOTSUP) {
			return fmt.Errorf("remove %s of %s: %w", list, dir.Name(), err)
		}
	}
	return errors.Join(dir.Chown(uid, gid), dir.Chmod(mode))
}
