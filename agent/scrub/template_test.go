package scrub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tree describes a folder and its content: each file with its properties, its time and its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case d.Type() == fs.ModeSymlink:
			content, err = os.Readlink(path)
			content = fmt.Sprintf("%s %d", content, info.ModTime().UnixNano())
		case d.Type().IsRegular():
			var text []byte
			text, err = os.ReadFile(path)
			content = fmt.Sprintf("%q %d", text, info.ModTime().UnixNano())
		}
		fmt.Fprintf(&out, "%s: %s %s\n", strings.TrimPrefix(path, dir), properties(t, path), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// home makes a home of the runner's user, as a script of the operator leaves one.
func home(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.MkdirAll(at(".ssh"), 0o700), os.MkdirAll(at(".cache/deep"), 0o755),
		os.WriteFile(at(".npmrc"), []byte("registry=x\n"), 0o600), os.WriteFile(at(".ssh/config"), []byte("Host *\n"), 0o644),
		os.WriteFile(at(".cache/deep/tool"), []byte("#!/bin/sh\n"), 0o755), os.WriteFile(at("of-root"), []byte("x"), 0o444),
		os.Symlink("/opt/none", at("outside")), os.Symlink(".npmrc", at("inside")), os.Link(at(".npmrc"), at("twice")), unix.Mkfifo(at("pipe"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".ssh", ".ssh/config", ".cache", ".cache/deep", ".cache/deep/tool", ".npmrc", "inside", "pipe"} {
		if err := os.Lchown(at(name), otherUser, otherUser); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(at(".cache/deep/tool"), 0o755|fs.ModeSetuid), os.Chmod(dir, 0o750)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(at(".npmrc"), "user.origin", []byte("script"), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
		t.Fatal(err)
	}
}

// The third run begins with the same home as the first run, although the runs changed it. The home is a folder of the instance, or the
// account's home next to other homes.
func TestScrub_HomeBeginsAsTheScriptLeftIt_Review_R1(t *testing.T) {
	for name, absolute := range map[string]bool{"OfTheInstance": false, "OfTheAccount": true} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			s.Levels["workspace"] = Workspace
			dir := filepath.Join(s.Root, "home")
			path := "home"
			if absolute {
				put(0, "people/neighbor/file", "x")
				dir = outside(s).path("people/otherUser")
				path = dir
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			home(t, dir)
			s.Fresh = append(s.Fresh, Folder{Path: path, Template: true})
			for range 2 { // an agent that ended before it had taken all of the baseline
				if err := s.TakeBaseline(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			want := tree(t, dir)
			for _, class := range []string{"full", "workspace", "full"} {
				evil := errors.Join(
					os.WriteFile(filepath.Join(dir, ".npmrc"), []byte("evil"), 0o600), os.RemoveAll(filepath.Join(dir, ".ssh")),
					os.WriteFile(filepath.Join(dir, "new"), nil, 0o600), os.Chmod(dir, 0o777), os.Remove(filepath.Join(dir, "outside")),
					os.Symlink(s.Root, filepath.Join(dir, "outside")),
				)
				if evil != nil {
					t.Fatal(evil)
				}
				if err := s.Scrub(t.Context(), class); err != nil {
					t.Fatalf("Scrub = %v", err)
				}
				if got := tree(t, dir); got != want {
					t.Fatalf("the next run begins with\n%s\nwant\n%s", got, want)
				}
			}
			if err := os.RemoveAll(dir); err != nil { // a job can remove its home, too
				t.Fatal(err)
			}
			if err := s.Scrub(t.Context(), "full"); err != nil {
				t.Fatalf("Scrub without a home = %v", err)
			}
			if got := tree(t, dir); got != want {
				t.Errorf("after its removal the home is\n%s\nwant\n%s", got, want)
			}
			if info, err := os.Stat(filepath.Join(s.Root, templates)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the templates can be entered: %v, %v", info, err)
			}
			if absolute && (!exists(outside(s).path("people/neighbor/file")) || exists(outside(s).path("people/.remuda-"+discarded))) {
				t.Error("the folder above the home has changed")
			}
		})
	}
}

// Before the baseline no job has run, and the script's files stay. With a baseline, a missing template is an error.
func TestScrub_TemplateMissing_Review_R1(t *testing.T) {
	s, put := place(t)
	s.Fresh = append(s.Fresh, Folder{Path: "home", Template: true})
	put(otherUser, "tmp/instance/home/.npmrc", "x")
	if err := s.Scrub(t.Context(), "full"); err != nil || !exists(filepath.Join(s.Root, "home/.npmrc")) {
		t.Errorf("Scrub before the baseline = %v, and .npmrc is there: %v", err, exists(filepath.Join(s.Root, "home/.npmrc")))
	}
	if err := errors.Join(s.TakeBaseline(t.Context()), os.RemoveAll(filepath.Join(s.Root, templates, "home"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), "templates/home") {
		t.Errorf("Scrub without the template = %v, want ErrNotClean that names it", err)
	}
}

// A folder that is a mount cannot be replaced, which shows before the first run and not after it.
func TestTakeBaseline_HomeIsAMount_Review_R1(t *testing.T) {
	s, _ := place(t)
	dir := outside(s).path("people/otherUser")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("remuda", dir, "tmpfs", 0, ""); err != nil {
		t.Skipf("no mount here: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	s.Fresh = append(s.Fresh, Folder{Path: dir, Template: true})
	if err := s.TakeBaseline(t.Context()); err == nil || !strings.Contains(err.Error(), "must not be a mount") {
		t.Errorf("TakeBaseline = %v, want that the home must not be a mount", err)
	}
}
