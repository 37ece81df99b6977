package writable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSubordinates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "subuid")
	if got, err := Subordinates(file, "ci", 1001); got != nil || err != nil {
		t.Errorf("without a file = %v, %v", got, err)
	}
	for _, tt := range []struct {
		text string
		want []Range
		err  string
	}{
		{"root:100000:65536\nci:165536:65536\n1001:5000000:1\nci:7:0\n\nnonsense\n", []Range{{165536, 231071}, {5000000, 5000000}}, ""},
		{"cicero:1:1\n", nil, ""},
		{"ci:x:1\n", nil, "invalid syntax"},
		{"ci:99999999999:1\n", nil, "out of range"},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Subordinates(file, "ci", 1001)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("of %q = %v, %v, want %v, %q", tt.text, got, err, tt.want, tt.err)
		}
	}
	u := User{UID: 1001, Subordinate: []Range{{165536, 231071}}}
	for uid, want := range map[int]bool{0: false, 1001: true, 165535: false, 165536: true, 231071: true, 231072: false} {
		if u.Owns(uid) != want {
			t.Errorf("Owns(%d) = %v", uid, !want)
		}
	}
}

// A folder of PATH counts only if the user can put nothing into it, and nothing in its place.
func TestFree(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes folders for others")
	}
	const uid, gid = 54321, 54322
	top := t.TempDir()
	u := User{UID: uid, Groups: []int{gid}, Subordinate: []Range{{4000000, 4000001}}}
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
		at("groups", 0, gid, 0o775), at("sticky/all", 0, 0, 0o777|os.ModeSticky), "relative", filepath.Join(top, "none"), "",
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(filepath.Join(top, "theirs/in"), link); err != nil {
		t.Fatal(err)
	}
	others = append(others, link)
	got, left := u.Free(strings.Join(append(slices.Clone(free), others...), ":"))
	if got != strings.Join(free, ":") || !slices.Equal(left, others) {
		t.Errorf("Free = %q and %q, want %q and %q", got, left, free, others)
	}
}
