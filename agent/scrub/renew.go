package scrub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/internal/writable"
)

// Folder is a folder of the instance that is new for each run.
type Folder struct {
	Path     string // below Scrubber.Root
	Mode     fs.FileMode
	UID, GID int
}

// discarded is the folder in Scrubber.Root that holds the folders of the last run until they are removed. Only the agent can enter it.
const discarded = "discarded"

// renew replaces each folder of s.Fresh with a new one and removes the old one. A folder that is only emptied keeps what the run
// set on the folder itself: its mode, access control lists, extended attributes, inode flags and project id. renew does not follow
// a link out of Root, and removes whatever a run left in the place of a folder.
func (s Scrubber) renew() error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	// An earlier agent may have ended before it removed the folder.
	if err := errors.Join(removeTree(root, discarded), root.Mkdir(discarded, 0o700)); err != nil {
		return err
	}
	for _, f := range s.Fresh {
		if err := f.renew(root, filepath.Join(discarded, strings.ReplaceAll(f.Path, "/", "-"))); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return removeTree(root, discarded)
}

// renew moves the folder to the path old and makes a new one.
func (f Folder) renew(root *os.Root, old string) error {
	path := filepath.Clean(f.Path)
	if _, err := root.Lstat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil // the runner program is not installed yet
	}
	err := root.Rename(path, old)
	if errors.Is(err, fs.ErrPermission) { // only root moves a folder without write permission
		unlock(root, path)
		err = root.Rename(path, old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.Mkdir(path, 0o700); err != nil {
		return err
	}
	dir, err := root.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return writable.SetAccess(dir, f.Mode, f.UID, f.GID)
}

// removeTree removes a file or folder of root with all that is in it. Its error names the innermost file or folder that stays.
func removeTree(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	unlock(root, name) // a folder without write permission keeps its content
	err := root.RemoveAll(name)
	if err == nil {
		return nil
	}
	names, _ := list(root, name) // of a file there are none
	for _, n := range names {
		if err := removeTree(root, filepath.Join(name, n)); err != nil {
			return err
		}
	}
	return err
}
