//go:build unix && !linux

package writable

import (
	"context"

	"golang.org/x/sys/unix"
)

// Foreign knows no mounts: machines run Linux.
func Foreign() (map[string]bool, error) { return map[string]bool{}, nil }

const noAttribute = unix.ENOATTR

func inodeOf(int) []byte { return nil }

func awaitTick(context.Context) error { return nil }

func statIn(dir int, name []byte, st *unix.Stat_t) error {
	return unix.Fstatat(dir, string(name[:len(name)-1]), st, unix.AT_SYMLINK_NOFOLLOW)
}
