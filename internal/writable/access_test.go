//go:build unix

package writable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/process"
)

// A folder of PATH counts only if the user can put nothing into it, and nothing in its place.
func TestFree(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes folders for others")
	}
	const uid, gid = 54321, 54322
	top := t.TempDir()
	u := User{User: process.User{UID: uid, Subordinate: []process.UIDs{{First: 4000000, Count: 2}}}, Groups: []int{gid}}
	at := func(name string, owner, group int, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chown(path, owner, group), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at("sticky", 0, 0, 0o777|os.ModeSticky)
	at("theirs", uid, 0, 0o755)
	at("open", 0, 0, 0o777)
	free := []string{at("plain", 0, 0, 0o755), at("group", 0, 1, 0o775), at("sticky/in", 0, 0, 0o755), "/usr/bin"}
	others := []string{
		at("theirs/in", 0, 0, 0o755), at("open/in", 0, 0, 0o755), at("all", 0, 0, 0o777), at("own", uid, 0, 0o555), at("sub", 4000000, 0, 0o755),
		at("groups", 0, gid, 0o775), at("sticky/all", 0, 0, 0o777|os.ModeSticky), ".",
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(filepath.Join(top, "theirs/in"), link); err != nil {
		t.Fatal(err)
	}
	others = append(others, link)
	theirs := filepath.Join(top, "open/link") // which they could replace
	if err := os.Symlink(filepath.Join(top, "plain"), theirs); err != nil {
		t.Fatal(err)
	}
	free = append(free, theirs)
	got, left := u.Free(strings.Join(append(slices.Clone(free), append(others, filepath.Join(top, "none"), "")...), ":"))
	free[len(free)-1] = filepath.Join(top, "plain")
	if got != strings.Join(free, ":") || !slices.Equal(left, others) {
		t.Errorf("Free = %q and %q, want %q and %q", got, left, free, others)
	}
}
