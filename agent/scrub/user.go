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

	"github.com/remuda-run/remuda/internal/process"
)

// removeUsers removes what runs have left outside the instance's folder: what is the runner's user's, and
// what is new where nobody else has business, whoever owns it. A job makes root's files by a container
// that has the folder, or by sudo.
func (s Scrubber) removeUsers(was Baseline) error {
	user, err := s.user()
	if err != nil {
		return err
	}
	for _, dir := range s.shared() {
		if err := removeWhere(dir, s.Root, ownOf(user)); err != nil {
			return err
		}
	}
	if err := s.removeTemporary(was); err != nil {
		return err
	}
	return s.restoreHome(was)
}

func ownOf(user process.User) func(string, fs.FileInfo) bool {
	return func(_ string, info fs.FileInfo) bool { return user.Owns(ownerOf(info)) }
}

// removeTimed removes what would start processes of the runner's user again: its timed jobs, and what lets its
// services live without it (loginctl(1)). It reports whether there was any.
func (s Scrubber) removeTimed() (found bool, err error) {
	user, err := s.user()
	if err != nil {
		return false, err
	}
	own := ownOf(user)
	err = removeWhere(s.spool(), s.Root, func(path string, info fs.FileInfo) bool {
		mine := own(path, info)
		found = found || mine
		return mine
	})
	if err != nil {
		return found, err
	}
	switch err := os.Remove(filepath.Join(s.system("var/lib/systemd/linger"), s.User.Name)); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return found, nil
	default:
		return found, err
	}
}

// removeTemporary removes what anybody can read in the folders for temporary files and was not there before
// the first run, on a computer without other users. What is private to a service stays: the next
// run cannot see it either.
func (s Scrubber) removeTemporary(was Baseline) error {
	if !s.Whole || was.Temporary == nil {
		return nil
	}
	now, err := s.temporaryFiles()
	if err != nil {
		return err
	}
	for _, path := range now {
		if slices.Contains(was.Temporary, path) || path == s.Root || strings.HasPrefix(s.Root, path+"/") {
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
func (s Scrubber) temporaryFiles() ([]string, error) {
	files := []string{}
	for _, dir := range s.temporary() {
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

// restoreHome removes what is new in the home of the runner's user, and checks that the rest is as it was.
func (s Scrubber) restoreHome(was Baseline) error {
	home, own := s.home()
	if home == "" {
		return nil
	}
	err := removeWhere(home, s.Root, func(path string, info fs.FileInfo) bool {
		_, known := was.Home[path]
		return !known && (own || ownedBy(info, s.User.UID))
	})
	if err != nil {
		return err
	}
	now, err := s.homeFiles()
	if err != nil {
		return err
	}
	for path, stamp := range was.Home {
		if now[path] != stamp {
			return fmt.Errorf("%s was changed or removed", path)
		}
	}
	return nil
}

// home is the home of the runner's user, "" if it has none of its own. Own says that the folder is the
// user's, and so everything in it: some have one of the system's, such as /usr/sbin.
func (s Scrubber) home() (home string, own bool) {
	home = s.User.Home
	if home == "" || home == "/" {
		return "", false
	}
	home = s.system(home)
	info, err := os.Stat(home)
	if err != nil || !info.IsDir() {
		return "", false
	}
	return home, ownedBy(info, s.User.UID)
}

// homeFiles returns the files of the user's home and what shows a change of them; the user's own alone
// where the folder is the system's. Folders change with what is in them, so of those only owner and mode
// are kept. Of the others the kernel's time of the last change is, which nobody but root can set back.
func (s Scrubber) homeFiles() (map[string]string, error) {
	home, own := s.home()
	if home == "" {
		return nil, nil //nolint:nilnil // no home has no files
	}
	files := map[string]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case path == s.Root:
			return fs.SkipDir
		case path == home || strings.HasPrefix(s.Root, path+"/"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok || !own && int(st.Uid) != s.User.UID:
		case d.IsDir():
			files[path] = fmt.Sprintf("%s %d", info.Mode(), st.Uid)
		default:
			files[path] = fmt.Sprintf("%s %d %d %d", info.Mode(), st.Uid, info.Size(), changedAt(st))
		}
		return nil
	})
	return files, err
}
