package scrub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/internal/writable"
)

// Folder is a folder that is created again for each run.
type Folder struct {
	Path     string      // relative to Scrubber.Root, or absolute
	Mode     fs.FileMode // with UID and GID, for a folder that starts empty
	UID, GID int
	Template bool // the folder starts as it was at the baseline; false: empty
}

// root opens the parent that Path is relative to: Scrubber.Root, or the parent folder of an absolute Path.
func (f Folder) root(dir string) (root *os.Root, path string, err error) {
	path = filepath.Clean(f.Path)
	if filepath.IsAbs(path) {
		dir, path = filepath.Split(path)
	}
	root, err = os.OpenRoot(dir)
	return root, path, err
}

// templates is the folder in Scrubber.Root that holds the templates. Only the agent can enter it, because a changed template would affect
// all later runs.
const templates = "templates"

// template is the path of the folder's template below Scrubber.Root.
func (f Folder) template() string {
	return filepath.Join(templates, strings.ReplaceAll(f.Path, "/", "-"))
}

// discarded is the folder that holds the last run's folders until they are removed. It is in Scrubber.Root, or next to an absolute Path
// with a dot before its name. Only the agent can enter it.
const discarded = "discarded"

// renew replaces each folder of s.Fresh with a new one and removes the old one. A folder that is only emptied keeps what the run
// set on the folder itself: its mode, access control lists, extended attributes, inode flags and project id. renew does not follow
// a link out of Root, and removes whatever a run left in the place of a folder.
func (s Scrubber) renew(ctx context.Context, was Baseline) error {
	for _, f := range s.Fresh {
		if f.Template && was.Boot == "" {
			continue // no run yet, and the files of the script stay
		}
		if err := f.renew(ctx, s.Root); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// renew replaces the folder. The new folder is made where only the agent can enter.
func (f Folder) renew(ctx context.Context, dir string) error {
	root, path, err := f.root(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil // the runner program is not installed yet
	}
	trash := discarded
	if filepath.IsAbs(f.Path) {
		trash = ".remuda-" + discarded
	}
	made, old := filepath.Join(trash, "made"), filepath.Join(trash, strings.ReplaceAll(f.Path, "/", "-"))
	// An earlier agent may have ended before it removed the folder.
	if err := errors.Join(removeTree(root, trash), root.Mkdir(trash, 0o700)); err != nil {
		return err
	}
	if f.Template {
		err = CopyFolder(ctx, filepath.Join(dir, f.template()), filepath.Join(root.Name(), made))
	} else {
		err = f.makeEmpty(root, made)
	}
	if err != nil {
		return err
	}
	err = root.Rename(path, old)
	if errors.Is(err, fs.ErrPermission) { // only root moves a folder without write permission
		unlock(root, path)
		err = root.Rename(path, old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(root.Rename(made, path), removeTree(root, trash))
}

func (f Folder) makeEmpty(root *os.Root, path string) error {
	if err := root.Mkdir(path, 0o700); err != nil {
		return err
	}
	at, err := root.Open(path)
	if err != nil {
		return err
	}
	defer at.Close()
	return writable.SetAccess(at, f.Mode, f.UID, f.GID)
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
