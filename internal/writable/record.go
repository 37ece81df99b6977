//go:build unix

// Package writable finds what a user may write on a machine, and later what became of it.
//
// Record walks the file system once and writes down every folder that the user may write and every other file
// that it may change. Compare then looks at those alone: whatever is new there, or not as it was. A change is
// known by the kernel's time of it (st_ctime), which only root can set back: equal or not, never older or newer,
// so that a clock that was set does not matter. The time of a folder changes with its content, so the properties of a folder
// itself are recorded one by one (attributes). Nothing may be written meanwhile: not by the user, and not by
// another one in the user's folders.
package writable

import (
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Tree is what Record walks through.
type Tree struct {
	Root string   // absolute; who may write it is not asked for
	Skip []string // folders in it that are not looked into, absolute
	// Temporary are folders in it, absolute, in which nothing of the user's stays: what it has there is not
	// recorded, as if it were new. One that is the user's itself may go, as that of a login goes with its end.
	Temporary []string
	Home      string // folder in it, absolute, in which everything counts as the user's; "": none
	User      User
}

// folder is what is known of one that the user may write, or that holds files which it may change.
type folder struct {
	Path    string
	Stamp   stamp
	Changed int64 // when its names, owner or mode last changed
	// Attributes are read only for an open folder: of others the user can change none.
	Attributes attributes
	Open       bool   // the user may put files into it: what is not in Names is new
	Names      []byte // each with a zero byte after it: one text is read in no time
	Stamps     []byte // a stamp for each name, one after another, for the same reason
}

// stamp is inode, mode and owner, size, and the kernel's time of the last change. For a file that is neither a regular file nor
// a link, size and time are left out and the group is added: folders change with their content, sockets and devices with their use.
// The zero stamp is that of a file which the user can neither change nor replace.
type stamp [4 * 8]byte

func stampOf(st *unix.Stat_t) (s stamp) {
	binary.LittleEndian.PutUint64(s[0:], st.Ino)
	binary.LittleEndian.PutUint64(s[8:], uint64(st.Mode)<<32|uint64(st.Uid))
	if kind(st) == unix.S_IFREG || kind(st) == unix.S_IFLNK {
		binary.LittleEndian.PutUint64(s[16:], uint64(st.Size))
		binary.LittleEndian.PutUint64(s[24:], uint64(changedAt(st)))
	} else {
		binary.LittleEndian.PutUint64(s[16:], uint64(st.Gid))
	}
	return s
}

func changedAt(st *unix.Stat_t) int64 { return st.Ctim.Nano() }

func kind(st *unix.Stat_t) uint32 { return modeOf(st) & unix.S_IFMT }

func modeOf(st *unix.Stat_t) uint32 { return uint32(st.Mode) } //nolint:unconvert // of 16 bits on other systems

// Record writes what the user may write to out, for Compare. What goes away meanwhile was not there.
func (t Tree) Record(ctx context.Context, out io.Writer) error {
	skip, err := Foreign()
	if err != nil {
		return fmt.Errorf("find what user %d may write: %w", t.User.UID, err)
	}
	for _, dir := range t.Skip {
		skip[filepath.Clean(dir)] = true
	}
	delete(skip, filepath.Clean(t.Root))
	delete(skip, t.Home)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(walkers - 1) // besides this one
	w := &walk{Tree: t, skip: skip, group: g, out: gob.NewEncoder(out)}
	err = errors.Join(w.folder(gctx, filepath.Clean(t.Root), false), g.Wait())
	if err == nil {
		err = awaitTick(ctx)
	}
	if err != nil {
		return fmt.Errorf("find what user %d may write: %w", t.User.UID, err)
	}
	return nil
}

// walkers is how many folders Record looks at at once. A disk that was just made from a snapshot answers each first
// read after milliseconds, and volumes take many reads at once (EBS User Guide, "Initialize Amazon EBS volumes").
const walkers = 16

// walk is one Record.
type walk struct {
	Tree
	skip  map[string]bool
	group *errgroup.Group
	mu    sync.Mutex
	out   *gob.Encoder
}

// folder looks at one and goes on into those in it, beside others as far as processors allow.
func (w *walk) folder(ctx context.Context, path string, temporary bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	temporary = temporary || slices.Contains(w.Temporary, path)
	found, below, err := w.look(path, temporary)
	if err != nil || found == nil {
		return err
	}
	if found.Open || len(found.Names) > 0 {
		w.mu.Lock()
		err = w.out.Encode(found)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	for _, name := range below {
		next := filepath.Join(path, name)
		if w.skip[next] {
			continue
		}
		if w.group.TryGo(func() error { return w.folder(ctx, next, temporary) }) {
			continue
		}
		if err := w.folder(ctx, next, temporary); err != nil {
			return err
		}
	}
	return nil
}

// look reads one folder. It returns nil if that is not there any more, or nothing of it is to stay.
func (w *walk) look(path string, temporary bool) (found *folder, below []string, err error) {
	dir, st, err := openFolder(path)
	if gone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	defer dir.Close()
	if temporary && w.User.Owns(int(st.Uid)) {
		return nil, nil, nil
	}
	home := w.Home != "" && (path == w.Home || strings.HasPrefix(path, w.Home+"/"))
	found = &folder{Path: path, Stamp: stampOf(st), Changed: changedAt(st), Open: home || w.User.may(write, path, st)}
	if found.Open {
		if found.Attributes, err = attributesOf(int(dir.Fd())); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	// In a sticky folder of another user each can replace what is its own (inode(7)).
	each := modeOf(st)&unix.S_ISVTX != 0 && !w.User.Owns(int(st.Uid)) && !home
	names, err := dir.Readdirnames(-1)
	if gone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	slices.Sort(names)
	fd := int(dir.Fd())
	for _, name := range names {
		full := filepath.Join(path, name)
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); gone(err) {
			continue
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", full, err)
		}
		own := w.User.Owns(int(st.Uid))
		if own && temporary {
			continue
		}
		if kind(&st) == unix.S_IFDIR && (home || w.User.may(enter|write, full, &st)) { // one can set attributes without entering
			below = append(below, name)
		}
		replaceable := found.Open && (!each || own)
		if replaceable || kind(&st) == unix.S_IFREG && w.User.may(write, full, &st) {
			found.add(name, stampOf(&st))
		} else if found.Open {
			found.add(name, stamp{})
		}
	}
	return found, below, nil
}

func (f *folder) add(name string, s stamp) {
	f.Names, f.Stamps = append(append(f.Names, name...), 0), append(f.Stamps, s[:]...)
}

// all yields the names and their stamps.
func (f *folder) all(yield func(name string, s stamp) bool) {
	rest, name := string(f.Names), ""
	for i := 0; rest != ""; i += len(stamp{}) {
		name, rest, _ = strings.Cut(rest, "\x00")
		if !yield(name, stamp(f.Stamps[i:])) {
			return
		}
	}
}

// gone reports whether a file is not there, or something else is.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// openFolder opens a folder, and no link to one.
func openFolder(path string) (*os.File, *unix.Stat_t, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	dir := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = dir.Close()
		return nil, nil, err
	}
	return dir, &st, nil
}
