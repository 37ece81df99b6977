//go:build unix

package actionsrunner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// Account is a user of the machine, for the runner and its jobs.
type Account struct {
	Name, Home string
	Credential *syscall.Credential // with the groups the user is in, such as that of a container engine
}

// lookupLimit bounds one lookup, because a directory server may not answer.
const lookupLimit = 10 * time.Second

// databases are the folders of the programs that read the account database. Jobs cannot put programs there, unlike in a folder of PATH.
var databases = []string{"/usr/bin", "/bin"}

// Lookup returns the account of a user, which must not be root. If /etc/passwd lacks the account, Lookup asks getent(1). The groups come
// from id(1). These programs read all sources of nsswitch.conf(5), such as LDAP.
func Lookup(name string) (Account, error) {
	a, err := lookup(name, databases)
	if err != nil {
		return Account{}, fmt.Errorf("runner user %q: %w", name, err)
	}
	return a, nil
}

func lookup(name string, folders []string) (Account, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
	defer cancel()
	ask := func(program string, args ...string) (string, error) {
		for _, folder := range folders {
			if path := filepath.Join(folder, program); unix.Access(path, unix.X_OK) == nil {
				return process.Output(ctx, path, args...)
			}
		}
		return "", fmt.Errorf("%s: %w", program, exec.ErrNotFound)
	}
	u, err := user.Lookup(name)
	if errors.As(err, new(user.UnknownUserError)) {
		out, gerr := ask("getent", "passwd", name)
		fields := strings.Split(strings.TrimSpace(out), ":") // name:password:uid:gid:comment:home:shell
		if gerr != nil || len(fields) != 7 || fields[0] != name {
			return Account{}, fmt.Errorf("%w: neither /etc/passwd nor getent has it: %w", err, gerr)
		}
		u, err = &user.User{Username: name, Uid: fields[2], Gid: fields[3], HomeDir: fields[5]}, nil
	}
	if err != nil {
		return Account{}, err
	}
	out, err := ask("id", "-G", name)
	groups := strings.Fields(out)
	if errors.Is(err, exec.ErrNotFound) {
		groups, err = u.GroupIds()
	}
	if err != nil {
		return Account{}, fmt.Errorf("groups: %w", err)
	}
	ids := make([]uint32, 0, len(groups)+2)
	for _, text := range slices.Concat([]string{u.Uid, u.Gid}, groups) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return Account{}, err
		}
		ids = append(ids, uint32(id))
	}
	if ids[0] == 0 {
		return Account{}, errors.New("must not be root")
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
