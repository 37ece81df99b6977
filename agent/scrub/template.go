package scrub

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/writable"
)

// takeTemplates copies each folder that has a template, as the operator's script left it. No job has run yet.
func (s Scrubber) takeTemplates() error {
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
		if err := f.take(s.Root); err != nil {
			return fmt.Errorf("copy template of %s: %w", f.Path, err)
		}
	}
	return nil
}

// take creates the template of the folder. The folder must not be a mount, because a mount cannot be replaced.
func (f Folder) take(dir string) error {
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
	from, err := above.OpenRoot(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return CopyFolder(from, filepath.Join(dir, f.template()))
}

// CopyFolder makes the folder at path a copy of an open folder. Nothing may be at path.
func CopyFolder(from *os.Root, path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	to, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer to.Close()
	return copyFolder(from, to)
}

// copyFolder copies the content and the properties of an open folder into another. A copy shares no inode with its original, so no job can
// write through a hard link. copyFolder never leaves the folder, even if a process changes it meanwhile.
func copyFolder(from, to *os.Root) error {
	in, err := from.Open(".")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Open(".")
	if err != nil {
		return err
	}
	defer out.Close()
	names, err := in.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyEntry(from, to, out, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return copyAccess(in, out, to, ".")
}

// copyEntry copies one file, link or folder into the folder to, which is open as dir. It skips sockets, pipes and devices, because their
// processes have ended.
func copyEntry(from, to *os.Root, dir *os.File, name string) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		below, err := from.OpenRoot(name)
		if err != nil {
			return err
		}
		defer below.Close()
		if err := to.Mkdir(name, 0o700); err != nil {
			return err
		}
		copied, err := to.OpenRoot(name)
		if err != nil {
			return err
		}
		defer copied.Close()
		return copyFolder(below, copied)
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		if err := errors.Join(to.Symlink(target, name), to.Lchown(name, int(st.Uid), int(st.Gid))); err != nil {
			return err
		}
		at := unix.NsecToTimespec(info.ModTime().UnixNano())
		return unix.UtimesNanoAt(int(dir.Fd()), name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	case info.Mode().IsRegular():
		return copyFile(from, to, name)
	}
	return nil
}

func copyFile(from, to *os.Root, name string) error {
	in, err := from.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // the kernel shares the blocks if the file system can (copy_file_range(2))
	if err == nil {
		err = copyAccess(in, out, to, name)
	}
	return errors.Join(err, out.Close())
}

// copyAccess copies the owner, mode, attributes and time of a file to its copy, which is named in to.
func copyAccess(in, out *os.File, to *os.Root, name string) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	st := info.Sys().(*syscall.Stat_t)
	if err := writable.SetAccess(out, info.Mode(), int(st.Uid), int(st.Gid)); err != nil {
		return err
	}
	return errors.Join(writable.CopyAttributes(in, out), to.Chtimes(name, info.ModTime(), info.ModTime()))
}
