// Package atomicfile replaces files as a whole.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Write replaces the file at path: a reader sees the old one or the new one, whenever this process dies. It does not
// wait for the disk: a machine that loses power may come back with an older one.
func Write(path string, content []byte, mode fs.FileMode) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
