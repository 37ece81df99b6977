//go:build unix

package actionsrunner

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Bounds of what an archive may hold. That of version 2.336.0 has some 10,000 files of 700 MB, two
// Node.js among them.
const (
	maxUnpacked = 8 << 30
	maxEntries  = 200_000
)

// errArchive says that an archive holds what no runner program has.
var errArchive = errors.New("actions runner: bad archive")

// unpack writes a .tar.gz into dir. Nothing is written outside, no link leads outside, and no file is
// anything but a file, a folder or a link.
func unpack(archive io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	zipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("%w: %w", errArchive, err)
	}
	defer zipped.Close()
	files := tar.NewReader(zipped)
	left := int64(maxUnpacked)
	for n := 0; ; n++ {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", errArchive, err)
		case n == maxEntries:
			return fmt.Errorf("%w: more than %d files", errArchive, maxEntries)
		}
		if left -= h.Size; h.Size < 0 || left < 0 {
			return fmt.Errorf("%w: more than %d MiB", errArchive, maxUnpacked>>20)
		}
		if err := entry(root, files, h); err != nil {
			return fmt.Errorf("%w: %s: %w", errArchive, h.Name, err)
		}
	}
}

// errOutside says that a name or a link leads out of the folder.
var errOutside = errors.New("leads outside")

// entry writes one file. Permissions are those of the archive without set-id bits; the owner is ours.
func entry(root *os.Root, files io.Reader, h *tar.Header) error {
	name := path.Clean(strings.TrimSuffix(h.Name, "/"))
	if !filepath.IsLocal(name) {
		return errOutside
	}
	if name == "." {
		return nil
	}
	if err := folder(root, path.Dir(name)); err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode) & 0o777 //nolint:gosec // the low bits alone
	switch h.Typeflag {
	case tar.TypeDir:
		if err := folder(root, name); err != nil {
			return err
		}
		return root.Chmod(name, mode|0o700)
	case tar.TypeReg:
		return file(root, files, name, mode)
	case tar.TypeSymlink:
		if !descends(h.Linkname) || !filepath.IsLocal(path.Join(path.Dir(name), h.Linkname)) {
			return fmt.Errorf("link to %s: %w", h.Linkname, errOutside)
		}
		return root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		target := path.Clean(h.Linkname)
		if !filepath.IsLocal(target) {
			return fmt.Errorf("link to %s: %w", h.Linkname, errOutside)
		}
		if info, err := root.Lstat(target); err == nil && !info.Mode().IsRegular() { // a link's name means another place here
			return fmt.Errorf("link to %s: no file: %w", h.Linkname, errOutside)
		}
		return root.Link(target, name)
	case tar.TypeXGlobalHeader:
		return nil
	}
	return fmt.Errorf("neither file, folder nor link: type %q", h.Typeflag)
}

// folder makes a folder and those above it. None may be a link: what is relative to it would begin
// elsewhere than its name says.
func folder(root *os.Root, name string) error {
	for at, c := range name + "/" {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(name[:at])
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder: %w", name[:at], errOutside)
		}
	}
	return root.MkdirAll(name, 0o755)
}

// descends reports whether a link's target goes up at its beginning only: after the name of a link,
// which the target may pass, .. is the folder above where that one leads.
func descends(target string) bool {
	for strings.HasPrefix(target, "../") {
		target = target[len("../"):]
	}
	return !path.IsAbs(target) && !strings.Contains("/"+target, "/../") && (target == ".." || !strings.HasSuffix(target, "/.."))
}

func file(root *os.Root, from io.Reader, name string, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Chmod(mode), f.Close()) // the umask took bits away
}
