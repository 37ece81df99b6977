package program

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/internal/process"
)

// User is who jobs run as.
type User struct {
	Name     string
	UID, GID int
}

// JobUser returns one of the users of these names that no process and no other test of this kind has: all processes of the
// user are killed again and again. A file in the folder for temporary files is locked meanwhile.
func JobUser(t testing.TB, names ...string) User {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		gid, gerr := strconv.Atoi(u.Gid)
		T{t}.Check(errors.Join(err, gerr))
		lock, err := os.OpenFile(filepath.Join(os.TempDir(), "remuda-e2e-"+name), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600) //nolint:usetesting // all runs of these tests on the computer share it
		T{t}.Check(err)
		jobs := process.User{UID: uid}
		there, err := jobs.Processes()
		if err == nil && len(there) == 0 && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			t.Cleanup(func() { // what a failed test leaves must not hide the next one's result
				if err := errors.Join(jobs.Kill(), jobs.RemoveIPC(), jobs.ClearKeyrings(), lock.Close()); err != nil {
					t.Error(err)
				}
			})
			return User{name, uid, gid}
		}
		T{t}.Check(errors.Join(err, lock.Close()))
	}
	t.Skipf("nobody to run jobs as: each of %v is in use or does not exist", names)
	return User{}
}

// Enters lets the user, and no other but root, into a folder that was closed. A machine that is scrubbed in full looks at
// all that its user may write on the computer: what other tests make and remove there would be its jobs' work.
func (u User) Enters(t testing.TB, dir string) {
	t.Helper()
	T{t}.Check(errors.Join(os.Chown(dir, os.Getuid(), u.GID), os.Chmod(dir, 0o750)))
}

// Help copies this test program to where jobs find it, which must be able to read it. With fs.ModeSetuid it is root's.
func Help(t testing.TB, dir, name string, mode fs.FileMode) string {
	t.Helper()
	text, err := os.ReadFile(os.Args[0])
	T{t}.Check(err)
	path := filepath.Join(dir, name)
	T{t}.Check(errors.Join(os.WriteFile(path, text, 0o755), os.Chmod(path, mode)))
	return path
}
