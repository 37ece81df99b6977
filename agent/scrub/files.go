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
		isNew := func(f Folder) bool { return filepath.Clean(f.Path) == filepath.Join(s.Program, name) }
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (ownerOf(info) == os.Geteuid() || slices.ContainsFunc(s.Fresh, isNew)) {
			continue
		}
		if err := errors.Join(err, root.RemoveAll(name)); err != nil {
			return fmt.Errorf("%s: %w", s.Program, err)
		}
	}
	return nil
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another program has removed the folder after it was opened
	}
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
