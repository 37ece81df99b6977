package writable

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// User is whose doings are looked for.
type User struct {
	UID         int
	Groups      []int // all that it is in
	Subordinate []Range
}

// Range is a number of users, both ends included.
type Range struct{ First, Last int }

// Owns reports whether the user, or one that it may become in a user namespace, is the owner uid.
func (u User) Owns(uid int) bool {
	return uid == u.UID || slices.ContainsFunc(u.Subordinate, func(r Range) bool { return r.First <= uid && uid <= r.Last })
}

// Subordinates returns the users that a user may become in a user namespace, from a file such as /etc/subuid
// (subuid(5)): its lines begin with the user's name or number. Those that a directory service gives are not
// there.
func Subordinates(file, name string, uid int) ([]Range, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("subordinate users: %w", err)
	}
	defer f.Close()
	var ranges []Range
	in := bufio.NewScanner(f)
	for in.Scan() {
		fields := strings.Split(strings.TrimSpace(in.Text()), ":")
		if len(fields) != 3 || fields[0] != name && fields[0] != strconv.Itoa(uid) {
			continue
		}
		first, ferr := strconv.ParseUint(fields[1], 10, 32)
		count, cerr := strconv.ParseUint(fields[2], 10, 32)
		if err := errors.Join(ferr, cerr); err != nil {
			return nil, fmt.Errorf("subordinate users: %s: %w", file, err)
		}
		if count > 0 {
			ranges = append(ranges, Range{First: int(first), Last: int(first + count - 1)})
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("subordinate users: %w", err)
	}
	return ranges, nil
}
