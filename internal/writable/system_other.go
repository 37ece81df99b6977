//go:build unix && !linux

package writable

import (
	"context"
	"path/filepath"
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
