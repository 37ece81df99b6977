//go:build unix && !linux

package writable

import (
	"context"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// skipped knows no mounts: machines run Linux.
func (t Tree) skipped() (map[string]bool, error) {
	skip := map[string]bool{}
	for _, dir := range t.Skip {
		skip[filepath.Clean(dir)] = true
	}
	return skip, nil
}

func awaitTick(context.Context) error { return nil }

func statIn(dir int, name []byte, st *unix.Stat_t) error {
	return unix.Fstatat(dir, string(name[:len(name)-1]), st, unix.AT_SYMLINK_NOFOLLOW)
}
