//go:build unix

package writable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// jobs is a user that no process is, with a group and a subordinate user.
var jobs = User{
	User: process.User{UID: 54321, Subordinate: []process.UIDs{{First: 4_000_000, Count: 10}}}, Groups: []int{54321, 54400},
}

// disk is a file system of a test.
type disk struct {
	*testing.T
	top string
}

func newDisk(t *testing.T) disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root makes files for others")
	}
	return disk{t, t.TempDir()}
}

func (d disk) path(name string) string { return filepath.Join(d.top, name) }

func (d disk) check(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// dir and file make one for an owner and group, in folders of root's.
func (d disk) dir(name string, owner, group int, mode os.FileMode) {
	d.Helper()
	d.check(os.MkdirAll(d.path(name), 0o755))
	d.check(errors.Join(os.Lchown(d.path(name), owner, group), os.Chmod(d.path(name), mode)))
}

func (d disk) file(name string, owner int, mode os.FileMode) {
	d.Helper()
	d.check(os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	d.check(os.WriteFile(d.path(name), []byte("of the image"), 0o600))
	d.check(errors.Join(os.Lchown(d.path(name), owner, owner), os.Chmod(d.path(name), mode)))
}

// record returns what Compare reads.
func (d disk) record(skip ...string) []byte {
	d.Helper()
	var out bytes.Buffer
	d.check(Tree{Root: d.top, Skip: skip, Temporary: []string{d.path("tmp"), d.path("run/user/54321")}, User: jobs}.Record(d.Context(), &out))
	return out.Bytes()
}

// compare reads and compares.
func compare(t *testing.T, record []byte) ([]string, error) {
	known, err := Read(bytes.NewReader(record))
	if err != nil {
		return nil, err
	}
	return known.Compare(t.Context(), jobs)
}

// image makes folders and files of each kind.
func (d disk) image() {
	d.dir("opt/tools", 0, 0, 0o777)
	d.file("opt/tools/node/bin/node", 0, 0o755)
	d.file("opt/tools/all", 0, 0o666)
	d.dir("run/lock", 0, 0, 0o777|os.ModeSticky)
	d.file("run/lock/roots", 0, 0o644)
	d.file("run/lock/all", 0, 0o666)
	d.dir("srv/own", jobs.UID, 0, 0o555)
	d.dir("srv/group", 0, 54400, 0o775)
	d.dir("srv/subordinate", 4_000_003, 0, 0o700)
	d.file("etc/own", jobs.UID, 0o400)
	d.file("etc/all", 0, 0o646)
	d.file("etc/roots", 0, 0o644)
	d.dir("etc/roots.d", 0, 0, 0o755)
	d.dir("root", 0, 0, 0o700)
	d.file("root/hidden", 0, 0o666)
	d.dir("skipped", jobs.UID, 0, 0o755)
	d.dir("tmp", 0, 0, 0o777|os.ModeSticky)
	d.file("tmp/own", jobs.UID, 0o644)
	d.file("tmp/all", 0, 0o666)
	d.check(os.Symlink("../opt/tools", d.path("etc/link")))
}

// H42: what is new wherever the user may write is found; what is new elsewhere was not the user's.
func TestCompare_New_H42(t *testing.T) {
	d := newDisk(t)
	d.image()
	was := d.record(d.path("skipped"))
	if got, err := compare(t, was); err != nil || len(got) > 0 {
		t.Fatalf("Compare with nothing changed = %v, %v", got, err)
	}
	want := []string{"opt/tools/node20", "run/lock/evil", "srv/group/evil", "srv/own/evil", "srv/subordinate/evil", "tmp/new", "tmp/own"}
	for _, name := range want[1 : len(want)-1] {
		d.file(name, jobs.UID, 0o644)
	}
	d.file(want[0]+"/deep/node", jobs.UID, 0o755)
	for _, name := range []string{"etc/new", "etc/roots.d/new", "root/new", "skipped/new", "new/new"} {
		d.file(name, 0, 0o644)
	}
	d.check(os.Chmod(d.path("root/hidden"), 0o600)) // no user could reach it
	got, err := compare(t, was)
	for i := range want {
		want[i] = d.path(want[i])
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Compare = %v, %v, want %v", got, err, want)
	}
}

// The folder of a login, which is a file system of its own, goes with the last of the login's processes.
func TestCompare_FolderOfALogin(t *testing.T) {
	d := newDisk(t)
	d.dir("run/user/54321", jobs.UID, jobs.UID, 0o700)
	d.file("run/user/54321/bus", jobs.UID, 0o666)
	record := d.record()
	d.check(os.RemoveAll(d.path("run/user/54321")))
	if added, err := compare(t, record); err != nil || len(added) > 0 {
		t.Errorf("Compare() = %q, %v, want nothing: the login has ended", added, err)
	}
}

// H42: what the user changed, replaced or removed is found, however it was hidden; what it cannot have changed is
// no concern here.
func TestCompare_Changed_H42(t *testing.T) {
	keepTime := func(d disk, name string, change func() error) error {
		info, err := os.Lstat(d.path(name))
		return errors.Join(err, change(), os.Chtimes(d.path(name), info.ModTime(), info.ModTime()))
	}
	rewrite := func(name string) func(disk) error { // with as many bytes
		return func(d disk) error {
			return keepTime(d, name, func() error { return os.WriteFile(d.path(name), []byte("of the run's"), 0o600) })
		}
	}
	replace := func(name, by string) func(disk) error {
		return func(d disk) error { return os.Rename(d.path(by), d.path(name)) }
	}
	for name, tt := range map[string]struct {
		do   func(disk) error
		path string // named by the error; "": none
	}{
		"Written":          {rewrite("opt/tools/all"), "opt/tools/all"},
		"WrittenTemporary": {rewrite("tmp/all"), "tmp/all"},
		"OwnTemporary":     {func(d disk) error { return os.Remove(d.path("tmp/own")) }, ""},
		"WrittenSticky":    {rewrite("run/lock/all"), "run/lock/all"},
		"WrittenOwn":       {rewrite("etc/own"), "etc/own"},
		"WrittenAll":       {rewrite("etc/all"), "etc/all"},
		"Removed":          {func(d disk) error { return os.Remove(d.path("opt/tools/all")) }, "opt/tools/all"},
		"RemovedFolder":    {func(d disk) error { return os.RemoveAll(d.path("srv/own")) }, "srv/own"},
		"Mode":             {func(d disk) error { return os.Chmod(d.path("etc/own"), 0o6755) }, "etc/own"},
		"FolderMode":       {func(d disk) error { return os.Chmod(d.path("srv/own"), 0o777) }, "srv/own"},
		"Replaced":         {replace("opt/tools/all", "etc/roots"), "opt/tools/all"},
		"FolderReplaced": {func(d disk) error {
			return errors.Join(os.Rename(d.path("opt/tools/node"), d.path("opt/tools/old")), os.Mkdir(d.path("opt/tools/node"), 0o755))
		}, "opt/tools/node"},
		"FolderBecameLink": {func(d disk) error {
			return errors.Join(os.Rename(d.path("srv/group"), d.path("srv/old")), os.Symlink("old", d.path("srv/group")))
		}, "srv/group"},
		"Roots":             {rewrite("etc/roots"), ""},
		"RootsSticky":       {rewrite("run/lock/roots"), ""},
		"RootsStickyGone":   {func(d disk) error { return os.Remove(d.path("run/lock/roots")) }, ""},
		"RootsFolder":       {func(d disk) error { return os.Remove(d.path("etc/roots.d")) }, ""},
		"LinkOfRootsFolder": {func(d disk) error { return os.Remove(d.path("etc/link")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			d.image()
			was := d.record()
			d.check(tt.do(d))
			_, err := compare(t, was)
			if tt.path == "" && err != nil || tt.path != "" && (!errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), d.path(tt.path)+" ")) {
				t.Errorf("Compare = %v, want %q changed", err, tt.path)
			}
		})
	}
}

// A name in a sticky folder that was another user's, and has become the user's, is new.
func TestCompare_TakenName_H42(t *testing.T) {
	d := newDisk(t)
	d.image()
	was := d.record()
	d.check(os.Remove(d.path("run/lock/roots")))
	d.file("run/lock/roots", 4_000_001, 0o644)
	got, err := compare(t, was)
	if err != nil || !slices.Equal(got, []string{d.path("run/lock/roots")}) {
		t.Errorf("Compare = %v, %v", got, err)
	}
}

// A list of rights counts as far as its mask goes.
func TestRecord_AccessList(t *testing.T) {
	d := newDisk(t)
	d.dir("list", 0, 0, 0o755)
	// Version 2; owner rwx, user 54321 rwx, group r-x, mask rwx, others r-x (linux/posix_acl_xattr.h).
	list := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 7, 1<<32 - 1}, {2, 7, 54321}, {4, 5, 1<<32 - 1}, {16, 7, 1<<32 - 1}, {32, 5, 1<<32 - 1}} {
		list = append(list, byte(e[0]), 0, byte(e[1]), 0, byte(e[2]), byte(e[2]>>8), byte(e[2]>>16), byte(e[2]>>24))
	}
	if err := unix.Setxattr(d.path("list"), aclAttribute, list, 0); err != nil {
		t.Skipf("no lists of rights here: %v", err)
	}
	was := d.record()
	d.file("list/new", jobs.UID, 0o644)
	if got, err := compare(t, was); err != nil || len(got) != 1 {
		t.Errorf("Compare = %v, %v, want the new file", got, err)
	}
}

// A record that is cut off, or none, says nothing.
func TestCompare_BadRecord(t *testing.T) {
	d := newDisk(t)
	d.image()
	was := d.record()
	for name, record := range map[string][]byte{"Cut": was[:len(was)-3], "Foreign": []byte("baseline")} {
		if _, err := compare(t, record); err == nil {
			t.Errorf("%s: Compare = nil", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Tree{Root: d.top, User: jobs}).Record(ctx, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Record of who gave up = %v", err)
	}
}

// BenchmarkCompare is the price of a release where the user may write 100,000 files.
func BenchmarkCompare(b *testing.B) {
	const folders, files = 1000, 100
	top := b.TempDir()
	for d := range folders {
		dir := filepath.Join(top, fmt.Sprintf("package-%d", d))
		if err := os.Mkdir(dir, 0o777); err != nil {
			b.Fatal(err)
		}
		for f := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("module-%d.js", f)), nil, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
	user := User{User: process.User{UID: os.Getuid()}}
	var was bytes.Buffer
	record := func() {
		was.Reset()
		if err := (Tree{Root: top, User: user}).Record(b.Context(), &was); err != nil {
			b.Fatal(err)
		}
	}
	var known Known
	read := func() {
		var err error
		if known, err = Read(bytes.NewReader(was.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	compare := func() {
		if got, err := known.Compare(b.Context(), user); err != nil || len(got) > 0 {
			b.Fatal(got, err)
		}
	}
	record()
	read()
	for name, does := range map[string]func(){"Record": record, "Read": read, "Compare": compare} {
		b.Run(name, func(b *testing.B) {
			began := processorTime(b)
			for b.Loop() {
				does()
			}
			b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}

// processorTime is what this process has used: unlike its time a computer that others use does not change it.
func processorTime(b *testing.B) time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
