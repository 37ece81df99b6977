package scrub

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A folder of another program that goes away while it is read is no reason to give an instance up (H42).
func TestRemoveIn_FolderGoesAway_H42(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "foreign")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := removeIn(root, dir, "", func(string, fs.FileInfo) bool { return true }); err != nil {
		t.Errorf("removeIn = %v", err)
	}
}
