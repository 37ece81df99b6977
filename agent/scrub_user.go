package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// removeUsers removes what the runner's user has outside the instance's folder.
func (s Scrubber) removeUsers(was Baseline) error {
	nothing := func(string) bool { return false }
	for _, dir := range s.shared() {
		if err := removeOwned(dir, s.User.UID, s.Root, nothing); err != nil {
			return err
		}
	}
	linger := filepath.Join(s.system("var/lib/systemd/linger"), s.User.Name)
	if err := os.Remove(linger); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	home := s.home()
	if home == "" {
		return nil
	}
	if err := removeOwned(home, s.User.UID, s.Root, func(path string) bool { _, known := was.Home[path]; return known }); err != nil {
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

// home is the home of the runner's user, "" if it has none of its own.
func (s Scrubber) home() string {
	home := s.User.Home
	if home == "" || home == "/" {
		return ""
	}
	home = s.system(home)
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		return ""
	}
	return home
}

// homeFiles returns the user's own files in its home and what shows a change of them. Folders change
// with what is in them, so of those only the mode is kept.
func (s Scrubber) homeFiles() (map[string]string, error) {
	home := s.home()
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
		case !ok || int(st.Uid) != s.User.UID:
		case d.IsDir():
			files[path] = info.Mode().String()
		default:
			files[path] = fmt.Sprintf("%s %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return files, err
}
