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

	"github.com/remuda-run/remuda/internal/writable"
)

// outside is the file system outside the instance's folder, where jobs leave files too, as a Scrubber knows it.
type outside Scrubber

// removeUsers removes what runs have left outside the instance's folder: what is the runner's user's, and
// what is new where no one else has business, whatever its owner. A job makes root's files by a container
// that has the folder, or by sudo.
func (o outside) removeUsers(was Baseline) error {
	user, err := o.User.Lookup(o.System)
	if err != nil {
		return err
	}
	for _, dir := range o.shared() {
		mine := ownOf(user)
		if info, err := os.Stat(dir); err == nil && user.Owns(ownerOf(info)) { // nobody else enters it
			mine = func(string, fs.FileInfo) bool { return true }
		}
		if err := removeWhere(dir, o.Root, mine); err != nil {
			return err
		}
	}
	return o.removeTemporary(was)
}

func ownOf(user writable.User) func(string, fs.FileInfo) bool {
	return func(_ string, info fs.FileInfo) bool { return user.Owns(ownerOf(info)) }
}

// removeTimed removes what would start processes of the runner's user again: its timed jobs, and what lets its
// services live without it (loginctl(1)). It reports whether there was any.
func (o outside) removeTimed() (found bool, err error) {
	user, err := o.User.Lookup(o.System)
	if err != nil {
		return false, err
	}
	own := ownOf(user)
	err = removeWhere(o.spool(), o.Root, func(path string, info fs.FileInfo) bool {
		mine := own(path, info)
		found = found || mine
		return mine
	})
	if err != nil {
		return found, err
	}
	err = os.Remove(filepath.Join(o.path("var/lib/systemd/linger"), o.User.Name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return found, nil
	}
	return found || err == nil, err
}

// removeTemporary removes what anyone can read in the folders for temporary files and was not there before
// the first run, on a computer without other users. What is private to a service stays: the next
// run cannot see it either.
func (o outside) removeTemporary(was Baseline) error {
	if !o.Whole || was.Temporary == nil {
		return nil
	}
	now, err := o.temporaryFiles()
	if err != nil {
		return err
	}
	for _, path := range now {
		if slices.Contains(was.Temporary, path) || path == o.Root || strings.HasPrefix(o.Root, path+"/") {
			continue
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm()&0o007 == 0 {
			continue
		}
		if err := errors.Join(err, os.RemoveAll(path)); err != nil {
			return err
		}
	}
	return nil
}

// temporaryFiles lists what is in the folders for temporary files.
func (o outside) temporaryFiles() ([]string, error) {
	files := []string{}
	for _, dir := range o.temporary() {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
		for _, e := range entries {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// home is the home of the runner's user, "" if it has none of its own. Own says that the folder is the
// user's, and so everything in it: some have one of the system's, such as /usr/sbin.
func (o outside) home() (home string, own bool) {
	home = o.User.Home
	if home == "" || home == "/" {
		return "", false
	}
	home, err := filepath.EvalSymlinks(o.path(home))
	if err != nil {
		return "", false
	}
	info, err := os.Lstat(home)
	if err != nil || !info.IsDir() {
		return "", false
	}
	return home, ownerOf(info) == o.User.UID
}

// Folders for everyone's temporary files (file-hierarchy(7)).
func (o outside) temporary() []string { return o.paths("tmp", "var/tmp", "dev/shm") }

// Where timed jobs of users are kept: cron's and at's (crontab(1), atd(8)).
func (o outside) spool() string { return o.path("var/spool") }

// Folders in which any user may leave files (file-hierarchy(7)).
func (o outside) shared() []string {
	return append(append(o.temporary(), o.paths("var/crash", "var/mail", o.runtime())...), o.spool())
}

// The folder for files of the user's login.
func (o outside) runtime() string { return fmt.Sprintf("run/user/%d", o.User.UID) }

func (o outside) paths(names ...string) []string {
	for i, name := range names {
		names[i] = o.path(name)
	}
	return names
}

// path is that of a file.
func (o outside) path(name string) string { return filepath.Join("/", o.System, name) }
