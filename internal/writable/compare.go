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

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// ErrChanged says that something that the user may write is not as it was.
var ErrChanged = errors.New("was changed or removed")

// Compare holds what the user may write against what Record wrote. It returns the paths of what is new, sorted;
// their folders are the ones that Record saw. An error wraps ErrChanged if anything else is different; then
// no path leads for certain where it did.
//
// It asks the kernel about every file: nothing less tells that one was not written to. A folder's list of names is
// read only where that has changed.
func Compare(ctx context.Context, user User, in io.Reader) ([]string, error) {
	g, ctx := errgroup.WithContext(ctx)
	folders := make(chan *folder, runtime.GOMAXPROCS(0))
	g.Go(func() error {
		defer close(folders)
		return read(ctx, in, folders)
	})
	found := make([][]string, runtime.GOMAXPROCS(0))
	for i := range found {
		g.Go(func() error {
			for f := range folders {
				added, err := f.compare(user)
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

// read passes on what Record wrote.
func read(ctx context.Context, in io.Reader, folders chan<- *folder) error {
	dec := gob.NewDecoder(in)
	for {
		f := &folder{}
		switch err := dec.Decode(f); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(f.Stamps) != bytes.Count(f.Names, []byte{0})*len(stamp{}):
			return fmt.Errorf("%s: %d numbers for names %q", f.Path, len(f.Stamps), f.Names)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case folders <- f:
		}
	}
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
	for name, was := range f.all {
		if was == (stamp{}) {
			continue
		}
		var now unix.Stat_t
		if err := unix.Fstatat(fd, name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil || stampOf(&now) != was {
			return nil, changed(filepath.Join(f.Path, name), err)
		}
	}
	if !f.Open || changedAt(st) == f.Changed {
		return nil, nil
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	known := maps.Collect(f.all)
	for _, name := range names {
		was, there := known[name]
		if there && was != (stamp{}) {
			continue
		}
		isNew, err := !there, error(nil)
		if there {
			isNew, err = taken(fd, name, user)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, name), err)
		}
		if isNew {
			added = append(added, filepath.Join(f.Path, name))
		}
	}
	return added, nil
}

// taken reports whether a file that was somebody else's has become the user's.
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
