//go:build unix

package writable

import (
	"os"
	"path/filepath"
	"slices"
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
// less: one of its own files it can give itself any right, the rights of a group are added to those of all, and
// where a list of rights exists whatever its mask allows counts.
func (u User) may(right uint32, path string, st *unix.Stat_t) bool {
	mode := modeOf(st)
	switch {
	case u.Owns(int(st.Uid)) || mode&right != 0:
		return true
	case mode&(right<<3) == 0: // of a list it is the mask
		return false
	}
	if slices.Contains(u.Groups, int(st.Gid)) {
		return true
	}
	n, err := unix.Lgetxattr(path, aclAttribute, nil)
	return err == nil && n > 0
}

// CanWrite reports whether the user may write a file or socket, as far as its own mode says.
func (u User) CanWrite(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && u.may(write, path, &st)
}

// Free returns the folders of a PATH that the user cannot put anything into, as they are without links, which the
// user may be able to replace, and the others. What is not there is among neither.
func (u User) Free(path string) (free string, others []string) {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if really, closed := u.closed(dir); closed {
			kept = append(kept, really)
		} else {
			others = append(others, dir)
		}
	}
	return strings.Join(kept, string(os.PathListSeparator)), others
}

// closed returns where a folder really is, and whether that is out of the user's reach, with all above it.
func (u User) closed(dir string) (really string, closed bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	really, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	for at := really; ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return "", false
		}
		sticky := modeOf(&st)&unix.S_ISVTX != 0 && at != really // no one else can replace what is in it
		if u.Owns(int(st.Uid)) || !sticky && u.may(write, at, &st) {
			return "", false
		}
		if at == "/" {
			return really, true
		}
	}
}
