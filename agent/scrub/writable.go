package scrub

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/writable"
)

// What the runner's user may write outside the instance's folder: its home, and caches of tools that an image
// leaves open to all. There a job could leave a program that the next run's takes for its own.

// writableFile is the name of the file in Scrubber.Root that keeps what was there before the first run.
const writableFile = "writable"

// cleansInFull reports whether a class of the configuration has the level full.
func (s Scrubber) cleansInFull() bool {
	full := slices.ContainsFunc(slices.Collect(maps.Keys(s.Levels)), func(class string) bool { return s.level(class) == Full })
	return s.User != nil && (full || s.level("") == Full)
}

// recordWritable writes down what the runner's user may write outside the instance's folder. Where others use the computer, theirs is what is in the folders for temporary files.
func (s Scrubber) recordWritable(ctx context.Context) error {
	if !s.cleansInFull() {
		return nil // it will not be asked for
	}
	user, err := s.User.Lookup(s.System)
	if err != nil {
		return err
	}
	tree := writable.Tree{Root: outside(s).path(""), Skip: append([]string{s.Root}, s.Others...), Temporary: outside(s).shared(), User: user}
	switch home, own := outside(s).home(); {
	case slices.ContainsFunc(s.Fresh, func(f Folder) bool { return f.Path == home }):
		tree.Skip = append(tree.Skip, home)
	case own:
		tree.Home = home
	}
	if !s.Whole {
		tree.Skip = append(tree.Skip, outside(s).shared()...)
	}
	var out bytes.Buffer
	if err := tree.Record(ctx, &out); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.Root, writableFile), out.Bytes(), 0o600)
}

// readWritable reads what recordWritable wrote.
func (s Scrubber) readWritable(was Baseline) (writable.Known, error) {
	if was.Boot == "" {
		return nil, nil // nothing ran
	}
	record, err := os.Open(filepath.Join(s.Root, writableFile))
	if err != nil {
		return nil, err
	}
	defer record.Close()
	return writable.Read(record)
}

// removeNew removes what is new where the runner's user may write, as far as a job can have made it. What a job changed
// or removed there cannot be put back, and was an error before.
func (s Scrubber) removeNew(user writable.User, paths []string) error {
	for _, path := range paths {
		if err := s.removeOne(user, path); err != nil {
			return err
		}
	}
	return nil
}

// removeOne removes one new file or folder, or the user's files in it. In a folder of the user, such as its home, it removes everything. On a
// computer that no one else uses, it also removes what everyone can read or what is for the user by name: a container, sudo or a
// service made it. What everyone can read stays in a sticky folder, unless that is for temporary files: services leave there what they need.
func (s Scrubber) removeOne(user writable.User, path string) error {
	folder := filepath.Dir(path)
	dir, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	home, own := outside(s).home()
	all := user.Owns(ownerOf(dir)) || own && isBelow(path, []string{home})
	readable := s.Whole && (dir.Mode()&fs.ModeSticky == 0 || slices.Contains(outside(s).temporary(), folder))
	return removePath(path, s.Root, func(at string, info fs.FileInfo) bool {
		// A folder that only others can enter keeps its content.
		return all || user.Owns(ownerOf(info)) || readable && at == path && info.Mode().Perm()&0o007 != 0 || s.Whole && user.Named(at, info)
	})
}

// removePath removes what mine accepts at and below path, but for keepTree.
func removePath(path, keepTree string, mine func(string, fs.FileInfo) bool) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return removeEntry(root, filepath.Base(path), path, keepTree, mine)
}
