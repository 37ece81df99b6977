package scrub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// defaultList is an access control list that gives everyone each right to new files in a folder.
var defaultList = []byte{2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255, 255, 255, 255, 32, 0, 7, 0, 255, 255, 255, 255}

// properties describes a folder: type, mode, owner and names of attributes.
func properties(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	st := info.Sys().(*syscall.Stat_t)
	names := make([]byte, 4096)
	n, err := unix.Llistxattr(path, names)
	if err != nil && !errors.Is(err, unix.ENOTSUP) {
		t.Fatal(err)
	}
	shown := slices.DeleteFunc(strings.Split(string(names[:max(n, 0)]), "\x00"), func(name string) bool { return name == "" || name == "security.selinux" })
	return fmt.Sprintf("%s %d %d %v", info.Mode(), st.Uid, st.Gid, shown)
}

// The next run gets a new folder for each kind of change that a run makes to a folder of the instance, or to its place. The cleanup
// does not follow links.
func TestScrub_FreshFolders_Review_S1(t *testing.T) {
	for name, do := range map[string]func(path, elsewhere string) error{
		"Nothing":   func(string, string) error { return nil },
		"Mode":      func(path, _ string) error { return os.Chmod(path, 0o777|os.ModeSetgid|os.ModeSticky) },
		"Closed":    func(path, _ string) error { return os.Chmod(path, 0) },
		"Owner":     func(path, _ string) error { return os.Lchown(path, 0, 12345) },
		"Attribute": func(path, _ string) error { return unix.Setxattr(path, "user.evil", []byte("x"), 0) },
		"Default":   func(path, _ string) error { return unix.Setxattr(path, "system.posix_acl_default", defaultList, 0) },
		"Above": func(path, _ string) error {
			return unix.Setxattr(filepath.Dir(path), "system.posix_acl_default", defaultList, 0)
		},
		"AboveGroup": func(path, _ string) error {
			return errors.Join(os.Chown(filepath.Dir(path), 0, 12345), os.Chmod(filepath.Dir(path), 0o755|os.ModeSetgid))
		},
		"Link": func(path, elsewhere string) error {
			return errors.Join(os.RemoveAll(path), os.Symlink(elsewhere, path))
		},
		"Fifo": func(path, _ string) error { return errors.Join(os.RemoveAll(path), unix.Mkfifo(path, 0o666)) },
		"File": func(path, _ string) error {
			return errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("x"), 0o666))
		},
		"Gone": func(path, _ string) error { return os.RemoveAll(path) },
		"HardLink": func(path, elsewhere string) error {
			return os.Link(filepath.Join(elsewhere, "file"), filepath.Join(path, "file"))
		},
		"NewLine": func(path, _ string) error { return os.WriteFile(filepath.Join(path, "a\nb"), nil, 0o600) },
		"Capability": func(path, _ string) error {
			file := filepath.Join(path, "program")
			return errors.Join(os.WriteFile(file, nil, 0o755), unix.Setxattr(file, "security.capability", append([]byte{1, 0, 0, 2, 255, 255}, make([]byte, 14)...), 0))
		},
		"Sparse": func(path, _ string) error {
			file := filepath.Join(path, "sparse")
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 1<<40))
		},
		"Deep": func(path, _ string) error { return os.MkdirAll(filepath.Join(path, strings.Repeat("d/", 1000)), 0o700) },
		"Left": func(path, _ string) error { // by an agent that died
			return os.MkdirAll(filepath.Join(filepath.Dir(path), discarded, "0", "secret"), 0o700)
		},
		"Planted": func(path, elsewhere string) error {
			return os.Symlink(elsewhere, filepath.Join(filepath.Dir(path), discarded))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			put(0, "elsewhere/file", "x")
			path, elsewhere := filepath.Join(s.Root, "scratch"), outside(s).path("elsewhere")
			if err := do(path, elsewhere); errors.Is(err, unix.ENOTSUP) {
				t.Skipf("not supported here: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			if err := s.Scrub(t.Context(), "workspace"); err != nil {
				t.Fatalf("Scrub = %v", err)
			}
			if got, want := properties(t, path), fmt.Sprintf("drwx------ %d %d []", otherUser, otherUser); got != want {
				t.Errorf("the folder is %s, want %s", got, want)
			}
			left, err := os.ReadDir(path)
			if err != nil || len(left) > 0 || exists(filepath.Join(s.Root, discarded)) {
				t.Errorf("left = %v, %v, and old folders are there: %v", left, err, exists(filepath.Join(s.Root, discarded)))
			}
			if got, err := os.ReadDir(elsewhere); err != nil || len(got) != 1 {
				t.Errorf("elsewhere = %v, %v, want it untouched", got, err)
			}
		})
	}
}

// A folder that cannot be replaced means not clean.
func TestScrub_FreshFolderImmutable_NotClean_Review_S1(t *testing.T) {
	for _, at := range []string{"scratch", "scratch/left"} {
		t.Run(at, func(t *testing.T) {
			s, _ := place(t)
			f, err := os.Open(filepath.Join(s.Root, at))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0x10); err != nil {
				t.Skipf("no inode flags here: %v", err)
			}
			t.Cleanup(func() { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0) })
			t.Cleanup(func() { // before the folder of the test is removed
				g, err := os.Open(f.Name())
				if err == nil {
					_ = unix.IoctlSetPointerInt(int(g.Fd()), unix.FS_IOC_SETFLAGS, 0)
					_ = g.Close()
				}
			})
			if err := s.Scrub(t.Context(), "workspace"); !errors.Is(err, ErrNotClean) {
				t.Errorf("Scrub = %v, want ErrNotClean", err)
			}
			if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A change of a folder that Compare knows costs the instance at level full.
func TestScrub_FolderProperties_NotClean_Review_S1(t *testing.T) {
	for _, name := range []string{"opt/hostedtoolcache", "people/otherUser"} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			put(otherUser, "people/otherUser/.profile", "of the image")
			open(t, s, "opt/hostedtoolcache", 0o777)
			path := outside(s).path(name)
			if err := os.Chown(outside(s).path("people/otherUser"), otherUser, otherUser); err != nil {
				t.Fatal(err)
			}
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Scrub(t.Context(), "full"); err != nil {
				t.Fatalf("Scrub without a change = %v", err)
			}
			if err := unix.Setxattr(path, "user.evil", []byte("x"), 0); err != nil {
				t.Skipf("no extended attributes here: %v", err)
			}
			if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), path+" was changed") {
				t.Errorf("Scrub = %v, want ErrNotClean because of %s", err, path)
			}
		})
	}
}

// A baseline that another version of the agent took may lack what this one compares: it is an error, not an empty baseline.
func TestScrub_BaselineOfAnotherVersion_NotClean_Review_S1(t *testing.T) {
	s, _ := place(t)
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.baselinePath())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.baselinePath(), []byte(strings.Replace(string(text), `"format": 3,`, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), "format must be 3, got 0") {
		t.Errorf("Scrub = %v, want ErrNotClean because of the format", err)
	}
}
