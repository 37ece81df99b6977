package writable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// list returns an access control list that gives user and group the rights of a folder that everyone may enter.
func list(user, group uint32) []byte {
	const none = 1<<32 - 1
	text := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 7, none}, {2, 7, user}, {4, 5, none}, {8, 7, group}, {16, 7, none}, {32, 5, none}} {
		text = binary.LittleEndian.AppendUint16(text, uint16(e[0]))
		text = binary.LittleEndian.AppendUint16(text, uint16(e[1]))
		text = binary.LittleEndian.AppendUint32(text, e[2])
	}
	return text
}

// setFlags adds inode flags.
func setFlags(path string, add uint32) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	flags, err := unix.IoctlGetUint32(int(dir.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, int(flags|add))
}

// Compare finds each change of a property that a folder keeps when its content is removed. It does so in a folder of the user, in a folder
// that everyone can write, and in the home of the user.
func TestCompare_FolderProperties_Review_S1(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"Group":     func(path string) error { return os.Lchown(path, -1, 54400) },
		"SetGID":    func(path string) error { return os.Chmod(path, 0o777|os.ModeSetgid) },
		"User":      func(path string) error { return unix.Setxattr(path, "user.evil", []byte("data"), 0) },
		"Empty":     func(path string) error { return unix.Setxattr(path, "user.evil", nil, 0) },
		"Long":      func(path string) error { return unix.Setxattr(path, "user.evil", bytes.Repeat([]byte("x"), 3000), 0) },
		"Other":     func(path string) error { return unix.Setxattr(path, "user.image", []byte("changed"), 0) },
		"Gone":      func(path string) error { return unix.Removexattr(path, "user.image") },
		"NewLine":   func(path string) error { return unix.Setxattr(path, "user.a\nb", []byte("x"), 0) },
		"Trusted":   func(path string) error { return unix.Setxattr(path, "trusted.evil", []byte("x"), 0) },
		"Security":  func(path string) error { return unix.Setxattr(path, "security.evil", []byte("x"), 0) },
		"Default":   func(path string) error { return unix.Setxattr(path, "system.posix_acl_default", list(1, 2), 0) },
		"Access":    func(path string) error { return unix.Setxattr(path, aclAttribute, list(1, 2), 0) },
		"NoDump":    func(path string) error { return setFlags(path, 0x40) },
		"Append":    func(path string) error { return setFlags(path, 0x20) },
		"Immutable": func(path string) error { return setFlags(path, 0x10) },
	} {
		for _, folder := range []string{"srv/own", "opt/tools", "home/user", "home/user/roots"} {
			t.Run(name+"/"+folder, func(t *testing.T) {
				d := newDisk(t)
				d.image()
				d.dir("home/user", jobs.UID, jobs.UID, 0o755)
				d.dir("home/user/roots", 0, 0, 0o755)
				path := d.path(folder)
				if err := unix.Setxattr(path, "user.image", []byte("of the image"), 0); err != nil {
					t.Skipf("no extended attributes here: %v", err)
				}
				tree := Tree{Root: d.top, Home: d.path("home/user"), User: jobs}
				var was bytes.Buffer
				d.check(tree.Record(t.Context(), &was))
				t.Cleanup(func() { _ = clearFlags(path) }) // or the test's folder could not be removed
				if err := do(path); errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOTTY) {
					t.Skipf("not supported here: %v", err)
				} else if err != nil {
					t.Fatal(err)
				}
				if _, err := compare(t, was.Bytes()); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path+" ") {
					t.Errorf("Compare = %v, want %s changed", err, path)
				}
			})
		}
	}
}

func clearFlags(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, 0)
}

// Content changes flags that belong to the file system, such as that of an index of names. They are no change.
func TestCompare_FolderGrows(t *testing.T) {
	d := newDisk(t)
	d.image()
	was := d.record()
	for i := range 2000 {
		d.file("opt/tools/new/"+strings.Repeat("n", 100)+string(rune('A'+i%50))+strings.Repeat("m", i/50), 0, 0o644)
		d.file("srv/own/"+strings.Repeat("n", 100)+string(rune('A'+i%50))+strings.Repeat("m", i/50), 0, 0o644)
	}
	d.check(errors.Join(os.RemoveAll(d.path("srv/own")+"/"+strings.Repeat("n", 100)+"A"), os.RemoveAll(d.path("opt/tools/new"))))
	if added, err := compare(t, was); err != nil || len(added) == 0 {
		t.Errorf("Compare = %d new, %v, want new files and no change", len(added), err)
	}
}

// A folder that the user may write but not enter can carry attributes from run to run too.
func TestCompare_WithoutEntering_Review_S1(t *testing.T) {
	d := newDisk(t)
	d.dir("etc/box", 0, 0, 0o752)
	was := d.record()
	if err := unix.Setxattr(d.path("etc/box"), "user.evil", []byte("x"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	if _, err := compare(t, was); !errors.Is(err, ErrChanged) {
		t.Errorf("Compare = %v, want the folder changed", err)
	}
}

// In the user's home everything is the user's to replace, also the files of root in folders of root.
func TestCompare_Home_H42(t *testing.T) {
	d := newDisk(t)
	d.dir("home/user", jobs.UID, jobs.UID, 0o755)
	d.file("home/user/.ssh/keys", 0, 0o600)
	var was bytes.Buffer
	d.check(Tree{Root: d.top, Home: d.path("home/user"), User: jobs}.Record(t.Context(), &was))
	d.file("home/user/.ssh/rc", 0, 0o600)
	if added, err := compare(t, was.Bytes()); err != nil || len(added) != 1 || added[0] != d.path("home/user/.ssh/rc") {
		t.Errorf("Compare = %v, %v, want the new file of root", added, err)
	}
	d.check(os.WriteFile(d.path("home/user/.ssh/keys"), []byte("other"), 0o600))
	if _, err := compare(t, was.Bytes()); !errors.Is(err, ErrChanged) {
		t.Errorf("Compare = %v, want root's file changed", err)
	}
}

// Only rights beyond those of everyone count, and only those of the user and its own group.
func TestNamed_Review_S5(t *testing.T) {
	d := newDisk(t)
	user := User{User: process.User{UID: 54321, Subordinate: []process.UIDs{{First: 4_000_000, Count: 10}}}, Groups: []int{54321, 54400}, Group: 54321}
	for name, tt := range map[string]struct {
		mode  os.FileMode
		group int
		list  []byte
		want  bool
	}{
		"Roots":       {0o640, 0, nil, false},
		"OwnGroup":    {0o640, 54321, nil, true},
		"Everyone":    {0o644, 54321, nil, false},
		"OtherGroup":  {0o640, 54400, nil, false},
		"ListUser":    {0o640, 0, list(54321, 1), true},
		"ListSub":     {0o640, 0, list(4_000_001, 1), true},
		"ListGroup":   {0o640, 0, list(1, 54321), true},
		"ListOthers":  {0o640, 0, list(1, 54400), false},
		"PrivateOnly": {0o600, 54321, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			d.file(name, 0, 0o600)
			d.check(os.Lchown(d.path(name), 0, tt.group))
			d.check(os.Chmod(d.path(name), tt.mode))
			if tt.list != nil {
				if err := unix.Setxattr(d.path(name), aclAttribute, tt.list, 0); err != nil {
					t.Skipf("no lists of rights here: %v", err)
				}
			}
			info, err := os.Lstat(d.path(name))
			d.check(err)
			if got := user.Named(d.path(name), info); got != tt.want {
				t.Errorf("Named = %v, want %v", got, tt.want)
			}
		})
	}
	d.dir("open", 0, 0, 0o777)
	info, err := os.Lstat(d.path("open"))
	d.check(err)
	if !user.Named(d.path("open"), info) {
		t.Error("Named of a folder that everyone may write = false")
	}
}
