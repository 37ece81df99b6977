package contain

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/internal/process"
)

// account is who jobs run as.
type account struct {
	name     string
	uid, gid int
}

// jobUsers are users of every Debian that have no processes. e2e has games.
var jobUsers = []string{"uucp", "news", "irc", "list"}

// claim returns a user that no process and no other test of this kind has: all processes of the user are killed
// again and again. A file in the folder for temporary files is locked meanwhile.
func claim(t testing.TB) account {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	for _, name := range jobUsers {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		gid, gerr := strconv.Atoi(u.Gid)
		if err := errors.Join(err, gerr); err != nil {
			t.Fatal(err)
		}
		lock, err := os.OpenFile(filepath.Join(os.TempDir(), "remuda-e2e-contain-"+name), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600) //nolint:usetesting // all runs of these tests on the computer share it
		if err != nil {
			t.Fatal(err)
		}
		there, err := process.User{UID: uid}.Processes()
		if err == nil && len(there) == 0 && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			t.Cleanup(func() {
				jobs := process.User{UID: uid} // what a failed test leaves must not hide the next one's result
				if err := errors.Join(jobs.Kill(), jobs.RemoveIPC(), jobs.ClearKeyrings(), lock.Close()); err != nil {
					t.Error(err)
				}
			})
			return account{name, uid, gid}
		}
		if err := errors.Join(err, lock.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Skipf("nobody to run jobs as: each of %v is in use or does not exist", jobUsers)
	return account{}
}
