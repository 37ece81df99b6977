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

// What the runner's user may write outside its own home and the instance's folder: caches of tools that an image
// leaves open to all, for one. There a job could leave a program that the next run's takes for its own.

// writableFile is the name of the file in Scrubber.Root that keeps what was there before the first run.
const writableFile = "writable"

// recordWritable writes down what the runner's user may write. Its own home and the instance's folder are looked
// after by themselves. Where others use the computer, theirs is what is in the folders for temporary files.
func (s Scrubber) recordWritable(ctx context.Context) error {
	full := slices.ContainsFunc(slices.Collect(maps.Keys(s.Levels)), func(class string) bool { return s.level(class) == Full })
	if s.User == nil || !full && s.level("") != Full {
		return nil // it will not be asked for
	}
	user, err := s.User.Lookup(s.System)
	if err != nil {
		return err
	}
	tree := writable.Tree{Root: outside(s).path(""), Skip: append([]string{s.Root}, s.Others...), Temporary: outside(s).shared(), User: user}
	if home, own := outside(s).home(); own {
		tree.Skip = append(tree.Skip, home)
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

// removeOne removes one file or folder, or what is the user's in it. On a computer of its own what everyone can
// read goes too, whatever its owner: a container or sudo made it. Not so in a folder in which each can remove its
// own only: services leave there what they need.
func (s Scrubber) removeOne(user writable.User, path string) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Lstat(".")
	if err != nil {
		return err
	}
	readable := s.Whole && dir.Mode()&fs.ModeSticky == 0
	return removeEntry(root, filepath.Base(path), path, s.Root, func(_ string, info fs.FileInfo) bool {
		return user.Owns(ownerOf(info)) || readable && info.Mode().Perm()&0o007 != 0
	})
}
