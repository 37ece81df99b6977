//go:build unix

package actionsrunner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Account is a user of the machine, for the runner and its jobs.
type Account struct {
	Name, Home string
	Credential *syscall.Credential // with the groups the user is in, such as that of a container engine
}

// Lookup returns the account of a user. It must not be root's: then there would be no difference.
func Lookup(name string) (Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, fmt.Errorf("runner user %q: %w", name, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return Account{}, fmt.Errorf("runner user %q: groups: %w", name, err)
	}
	ids := make([]uint32, 0, len(groups)+2)
	for _, text := range slices.Concat([]string{u.Uid, u.Gid}, groups) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return Account{}, fmt.Errorf("runner user %q: %w", name, err)
		}
		ids = append(ids, uint32(id))
	}
	if ids[0] == 0 {
		return Account{}, fmt.Errorf("runner user %q: must not be root", name)
	}
	return Account{Name: name, Home: u.HomeDir, Credential: &syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]}}, nil
}

// Share makes dir, a runner's folder that no job has used yet, one that a user can run but not change:
// what is in it stays ours, and what the program and its jobs write into it becomes the user's. A job
// that could replace the program would be there in the next run.
func Share(dir string, uid, gid int) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() &^ 0o022
		return os.Chmod(path, mode|mode&0o500>>3|mode&0o500>>6) // who may read or run it is everyone
	})
	for _, name := range []string{"_work", "_diag"} {
		if folder := filepath.Join(dir, name); err == nil {
			err = errors.Join(os.MkdirAll(folder, 0o755), os.Lchown(folder, uid, gid))
		}
	}
	if err == nil { // sticky: the user adds files, such as its registration, and cannot rename or remove others'
		err = errors.Join(os.Lchown(dir, os.Geteuid(), gid), os.Chmod(dir, 0o775|fs.ModeSticky))
	}
	if err != nil {
		return fmt.Errorf("share %s with user %d: %w", dir, uid, err)
	}
	return nil
}
