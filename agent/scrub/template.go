package scrub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/remuda-run/remuda/internal/process"
)

// takeTemplates copies each folder that has a template, as the operator's script left it. No job has run yet.
func (s Scrubber) takeTemplates(ctx context.Context) error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	// An earlier agent may have stopped while it copied.
	if err := errors.Join(removeTree(root, templates), root.Mkdir(templates, 0o700)); err != nil {
		return err
	}
	for _, f := range s.Fresh {
		if !f.Template {
			continue
		}
		if err := f.take(ctx, s.Root); err != nil {
			return fmt.Errorf("copy template of %s: %w", f.Path, err)
		}
	}
	return nil
}

// take creates the template of the folder. The folder must not be a mount, because a mount cannot be replaced.
func (f Folder) take(ctx context.Context, dir string) error {
	above, path, err := f.root(dir)
	if err != nil {
		return err
	}
	defer above.Close()
	root, rerr := above.Lstat(".")
	info, err := above.Lstat(path)
	if err := errors.Join(rerr, err); err != nil {
		return err
	}
	if info.Sys().(*syscall.Stat_t).Dev != root.Sys().(*syscall.Stat_t).Dev {
		return errors.New("must not be a mount: mount the folder above it instead")
	}
	return CopyFolder(ctx, filepath.Join(above.Name(), path), filepath.Join(dir, f.template()))
}

// CopyFolder copies the folder at path from to path to, with owners, modes, attributes and times. Nothing may exist at path to.
func CopyFolder(ctx context.Context, from, to string) error {
	_, err := process.Output(ctx, "cp", "-a", from, to)
	return err
}
