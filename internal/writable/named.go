//go:build unix

package writable

import (
	"encoding/binary"
	"io/fs"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enters reports whether the user can enter a folder.
func (u User) Enters(path string, info fs.FileInfo) bool { return u.may(enter, path, statOf(info)) }

// Named reports whether a regular file or a folder gives the user rights that not everyone has, or is a folder that the user can
// write: its access control list names the user or the user's own group, or it belongs to that group.
func (u User) Named(path string, info fs.FileInfo) bool {
	st := statOf(info)
	mode := modeOf(st)
	switch {
	case info.IsDir() && u.may(write, path, st):
		return true
	case !info.IsDir() && !info.Mode().IsRegular() || mode>>3&^mode&0o7 == 0: // where there is a list, the rights of the group are its mask
		return false
	case u.Group != 0 && int(st.Gid) == u.Group:
		return true
	}
	list, err := grow(func(b []byte) (int, error) { return unix.Lgetxattr(path, aclAttribute, b) })
	if err != nil {
		return false // there is no list, or no file any more
	}
	for e := range slices.Chunk(list[min(len(list), 4):], 8) { // the version, then tag, rights and id of each entry (linux/posix_acl_xattr.h)
		if len(e) < 8 || e[2] == 0 {
			continue
		}
		id := int(binary.LittleEndian.Uint32(e[4:]))
		if e[0] == 2 && u.Owns(id) || e[0] == 8 && u.Group != 0 && id == u.Group { // ACL_USER, ACL_GROUP
			return true
		}
	}
	return false
}

func statOf(info fs.FileInfo) *unix.Stat_t {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &unix.Stat_t{}
	}
	return &unix.Stat_t{Mode: st.Mode, Uid: st.Uid, Gid: st.Gid}
}
