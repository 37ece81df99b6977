//go:build unix

package writable

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// ErrChanged says that something that the user may write is not as it was.
var ErrChanged = errors.New("was changed or removed")

// Known is what Record wrote.
type Known []*folder

// Read reads what Record wrote.
func Read(in io.Reader) (Known, error) {
	var known Known
	for dec := gob.NewDecoder(in); ; {
		f := &folder{}
		switch err := dec.Decode(f); {
		case errors.Is(err, io.EOF):
			return known, nil
		case err != nil:
			return nil, fmt.Errorf("read what a user may write: %w", err)
		case len(f.Stamps) != bytes.Count(f.Names, []byte{0})*len(stamp{}):
			return nil, fmt.Errorf("read what a user may write: %s: %d numbers for names %q", f.Path, len(f.Stamps), f.Names)
		}
		known = append(known, f)
	}
}

// Compare holds what the user may write against what is known of it. It returns the paths of what is new, sorted;
// their folders are the ones that Record saw. An error wraps ErrChanged if anything else is different; then
// no path leads for certain where it did.
//
// It asks the kernel about every file: nothing less shows that one was not written to. A folder's list of names is
// read only where that has changed.
func (k Known) Compare(ctx context.Context, user User) ([]string, error) {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	found := make([][]string, runtime.GOMAXPROCS(0))
	for i := range found {
		g.Go(func() error {
			for at := next.Add(1); at <= int64(len(k)); at = next.Add(1) {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				added, err := k[at-1].compare(user)
				if err != nil {
					return err
				}
				found[i] = append(found[i], added...)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("compare what user %d may write: %w", user.UID, err)
	}
	added := slices.Concat(found...)
	slices.Sort(added)
	return added, nil
}

// compare returns what is new in a folder.
func (f *folder) compare(user User) (added []string, err error) {
	dir, st, err := openFolder(f.Path)
	if err != nil {
		return nil, changed(f.Path, err)
	}
	defer dir.Close()
	if stampOf(st) != f.Stamp {
		return nil, changed(f.Path, nil)
	}
	fd := int(dir.Fd())
	if f.Open && changedAt(st) != f.Changed {
		if now, err := attributesOf(fd); err != nil || !now.equal(f.Attributes) {
			return nil, changed(f.Path, err)
		}
	}
	var now unix.Stat_t
	rest := f.Names
	for i := 0; len(rest) > 0; i += len(stamp{}) { // as all does, but copies no name: there may be a hundred thousand
		end := bytes.IndexByte(rest, 0) + 1
		name := rest[:end]
		rest = rest[end:]
		was := stamp(f.Stamps[i:])
		if was == (stamp{}) {
			continue
		}
		if err := statIn(fd, name, &now); err != nil || stampOf(&now) != was {
			return nil, changed(filepath.Join(f.Path, string(name[:end-1])), err)
		}
	}
	if !f.Open || changedAt(st) == f.Changed {
		return nil, nil
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, changed(f.Path, err)
	}
	known := maps.Collect(f.all)
	for _, name := range names {
		was, there := known[name]
		if there && was != (stamp{}) {
			continue
		}
		isNew := !there
		if there {
			if isNew, err = taken(fd, name, user); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, name), err)
			}
		}
		if isNew {
			added = append(added, filepath.Join(f.Path, name))
		}
	}
	return added, nil
}

// taken reports whether a file that was another user's has become the user's.
func taken(fd int, name string, user User) (bool, error) {
	var now unix.Stat_t
	err := unix.Fstatat(fd, name, &now, unix.AT_SYMLINK_NOFOLLOW)
	if gone(err) {
		return false, nil
	}
	return err == nil && user.Owns(int(now.Uid)), err
}

// changed is what became of a file; an error other than that it is gone says more.
func changed(path string, err error) error {
	if err == nil || gone(err) {
		return fmt.Errorf("%s %w", path, ErrChanged)
	}
	return fmt.Errorf("%s: %w", path, err)
}
