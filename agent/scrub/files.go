package scrub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// empty removes the content of every folder of s.Empty. A link found in the place of a folder is
// replaced by a folder, and no link is followed out of Root.
func (s Scrubber) empty() error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range s.Empty {
		if err := emptyDir(root, filepath.Clean(dir)); err != nil {
			return err
		}
	}
	return nil
}

// added removes what another user put beside the runner program, such as a job its .env, which the program
// would read. The program itself is ours, where it is not the jobs' too.
func (s Scrubber) added() error {
	if s.Program == "" {
		return nil
	}
	root, err := os.OpenRoot(filepath.Join(s.Root, s.Program))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing ran yet
	}
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := list(root, ".")
	if err != nil {
		return fmt.Errorf("%s: %w", s.Program, err)
	}
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (ownerOf(info) == os.Geteuid() || slices.Contains(s.Empty, filepath.Join(s.Program, name))) {
			continue
		}
		if err := errors.Join(err, root.RemoveAll(name)); err != nil {
			return fmt.Errorf("%s: %w", s.Program, err)
		}
	}
	return nil
}

func emptyDir(root *os.Root, dir string) error {
	info, err := root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return replaceDir(root, dir, info)
	case info.Mode().Perm()&0o700 != 0o700:
		if err := root.Chmod(dir, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	in, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	names, err := list(in, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := in.RemoveAll(name); err == nil {
			continue
		}
		unlock(in, name) // a folder without write permission keeps its content
		if err := in.RemoveAll(name); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if names, err = list(in, "."); err == nil && len(names) > 0 {
		err = fmt.Errorf("%s: %d entries appeared while it was emptied, one is %q", dir, len(names), names[0])
	}
	return err
}

// replaceDir makes a folder in the place of what is no folder. It belongs to whom that belonged: only the
// runner's user can have put it there, and will need the folder.
func replaceDir(root *os.Root, dir string, info fs.FileInfo) error {
	if err := errors.Join(root.Remove(dir), root.Mkdir(dir, 0o755)); err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return root.Lchown(dir, int(owner.Uid), int(owner.Gid))
}

// unlock gives us every permission on the folders at and below name. What it cannot change, the
// removal that follows reports.
func unlock(root *os.Root, name string) {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	if root.Chmod(name, 0o700) != nil {
		return
	}
	names, err := list(root, name)
	if err != nil {
		return
	}
	for _, n := range names {
		unlock(root, filepath.Join(name, n))
	}
}

func list(root *os.Root, name string) ([]string, error) {
	d, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// removeWhere removes what mine accepts at and below dir, whose own folder stays, but for keepTree, which is
// left alone with all around it. What it does not accept is looked into. A folder that is not there holds
// nothing.
func removeWhere(dir, keepTree string, mine func(path string, info fs.FileInfo) bool) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return removeIn(root, dir, keepTree, mine)
}

// removeIn is removeWhere in a folder that is open, whose path is dir.
func removeIn(root *os.Root, dir, keepTree string, mine func(string, fs.FileInfo) bool) error {
	names, err := list(root, ".")
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, name := range names {
		if err := removeEntry(root, name, filepath.Join(dir, name), keepTree, mine); err != nil {
			return err
		}
	}
	return nil
}

// removeEntry removes one file or folder of root, whose path is path, or looks into the folder. What has gone holds nothing.
func removeEntry(root *os.Root, name, path, keepTree string, mine func(string, fs.FileInfo) bool) error {
	if path == keepTree {
		return nil
	}
	info, err := root.Lstat(name)
	inside := strings.HasPrefix(keepTree, path+string(filepath.Separator))
	switch {
	case err != nil:
	case !inside && mine(path, info):
		err = root.RemoveAll(name)
	case info.IsDir():
		var in *os.Root
		if in, err = root.OpenRoot(name); err == nil {
			defer in.Close()
			return removeIn(in, path, keepTree, mine)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// ownerOf is the user who owns a file.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
