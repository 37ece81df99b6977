package scrub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/remuda-run/remuda/internal/writable"
)

// outside is the file system outside the instance's folder, where jobs leave files too, as a Scrubber knows it.
type outside Scrubber

// removeUsers removes the files of the runner's user from the folders in which every user may leave files.
func (o outside) removeUsers() error {
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
	return nil
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
