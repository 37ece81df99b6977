// Package atomicfile replaces files as a whole, and removes them.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// WriteJSON replaces the file at path by one that says what v is.
func WriteJSON(path string, v any, mode fs.FileMode) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return Write(path, append(text, '\n'), mode)
}

// Remove removes files of a folder. One that is not there is no error.
func Remove(dir string, names ...string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
