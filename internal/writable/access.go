//go:build unix

package writable

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Rights of one class of users in the mode of a file (inode(7)).
const (
	enter = 0o1
	write = 0o2
)

// aclAttribute holds a POSIX access control list (acl(5)).
const aclAttribute = "system.posix_acl_access"

// may reports whether the user may enter or write what st is about, at path; more often than it may rather than
// less: one of its own files it can give itself any right, the rights of a group are added to everybody's, and
// where a list of rights exists whatever its mask allows counts.
func (u User) may(right uint32, path string, st *unix.Stat_t) bool {
	mode := modeOf(st)
	switch {
	case u.Owns(int(st.Uid)) || mode&right != 0:
		return true
	case mode&(right<<3) == 0: // of a list it is the mask
		return false
	}
	for _, g := range u.Groups {
		if g == int(st.Gid) {
			return true
		}
	}
	n, err := unix.Lgetxattr(path, aclAttribute, nil)
	return err == nil && n > 0
}

// Free returns the folders of a PATH that the user cannot put anything into, and the others. What is not there is
// among neither.
func (u User) Free(path string) (free string, others []string) {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if u.closed(dir) {
			kept = append(kept, dir)
		} else {
			others = append(others, dir)
		}
	}
	return strings.Join(kept, string(os.PathListSeparator)), others
}

// closed reports whether a folder, wherever it really is, is out of the user's reach, with all above it.
func (u User) closed(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for last := true; ; last = false {
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil {
			return false
		}
		sticky := modeOf(&st)&unix.S_ISVTX != 0 && !last // nobody else can replace what is in it
		if u.Owns(int(st.Uid)) || !sticky && u.may(write, dir, &st) {
			return false
		}
		if dir == "/" {
			return true
		}
		dir = filepath.Dir(dir)
	}
}
