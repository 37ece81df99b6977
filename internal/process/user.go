//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// User is a user of the system whose processes are all of one kind, such as those of runs, with the uids that
// it may give to them in user namespaces of its own (subuid(5)).
type User struct {
	UID         int
	Subordinate []UIDs
}

// UIDs are some in a row.
type UIDs struct{ First, Count int }

// ErrNotAlone says that a user cannot be one whose processes are all of one kind.
var ErrNotAlone = errors.New("process: not a user of runs alone")

// LookupUser returns a user with what a file like /etc/subuid, whose lines begin with name or uid, gives it. No
// such file gives nothing, nor does a line that newuidmap(1) cannot read.
func LookupUser(name string, uid int, subuids string) (User, error) {
	u := User{UID: uid}
	text, err := os.ReadFile(subuids)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return u, fmt.Errorf("subordinate uids of user %d: %w", uid, err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 || f[0] != name && f[0] != strconv.Itoa(uid) {
			continue
		}
		first, err := strconv.Atoi(f[1])
		count, cerr := strconv.Atoi(f[2])
		if errors.Join(err, cerr) == nil {
			u.Subordinate = append(u.Subordinate, UIDs{first, count})
		}
	}
	return u, nil
}

// Owns reports whether uid is the user's or one that it may give away. Root belongs to no user.
func (u User) Owns(uid int) bool {
	if uid == u.UID {
		return true
	}
	for _, r := range u.Subordinate {
		if uid > 0 && uid >= r.First && uid-r.First < r.Count {
			return true
		}
	}
	return false
}

// LoggedIn returns those of the user's processes that a login of the user began, in no order: they are a person's, or
// a timed job's. It knows none where the kernel does not say (proc_pid_loginuid(5)).
func (u User) LoggedIn() ([]Ref, error) {
	all, err := u.Processes()
	return slices.DeleteFunc(all, func(r Ref) bool { return loginOf(r.PID) != u.UID }), err
}
