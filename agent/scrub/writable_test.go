package scrub

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// open makes a folder that everyone may write.
func open(t *testing.T, s Scrubber, name string, mode os.FileMode) {
	t.Helper()
	path := outside(s).path(name)
	if err := errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// H42: what a job put wherever its user may write is gone at level full, and at no other; what services made is
// not, where each can remove its own only, nor what is of others on a computer that they use too.
func TestScrub_WritableFolders_H42(t *testing.T) {
	for name, want := range map[string]struct{ gone, rootsGone bool }{
		"none": {}, "workspace": {}, "full": {gone: true}, "whole": {gone: true, rootsGone: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			put(0, "opt/hostedtoolcache/python/x64/python", "of the image")
			open(t, s, "opt/hostedtoolcache", 0o777)
			open(t, s, "run/lock", 0o777|os.ModeSticky)
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			evil := []string{"opt/hostedtoolcache/node/20.0.0/x64/bin/node", "opt/hostedtoolcache/node/20.0.0/x64.complete", "opt/hostedtoolcache/go/theirs", "run/lock/evil"}
			for _, name := range evil {
				put(otherUser, name, "evil")
			}
			if err := os.Lchown(outside(s).path("opt/hostedtoolcache/node"), otherUser, otherUser); err != nil {
				t.Fatal(err)
			}
			put(0, "opt/hostedtoolcache/go/bin/go", "by a container")
			put(0, "run/lock/service", "of a service")
			var err error
			if name == "whole" { // a scrub of all would be one of this computer
				s.Whole = true
				known, rerr := s.readWritable(Baseline{Boot: "this"})
				user, uerr := s.User.Lookup(s.System)
				found, cerr := known.Compare(t.Context(), user)
				err = errors.Join(rerr, uerr, cerr, s.removeNew(user, found))
			} else {
				err = s.Scrub(t.Context(), name)
			}
			if err != nil {
				t.Fatalf("Scrub = %v", err)
			}
			for _, name := range evil {
				if exists(outside(s).path(name)) == want.gone {
					t.Errorf("%s is there: %v", name, !want.gone)
				}
			}
			if exists(outside(s).path("opt/hostedtoolcache/go/bin/go")) == want.rootsGone {
				t.Errorf("root's file is there: %v", !want.rootsGone)
			}
			for _, name := range []string{"opt/hostedtoolcache/python/x64/python", "run/lock/service"} {
				if !exists(outside(s).path(name)) {
					t.Errorf("%s is gone, and was not the run's", name)
				}
			}
		})
	}
}

// H42: a file of the image that a job changed, or a link in the place of a folder, ends the machine; nothing is
// removed behind the link.
func TestScrub_WritableChanged_NotClean_H42(t *testing.T) {
	for name, do := range map[string]func(s Scrubber) error{
		"python was changed": func(s Scrubber) error {
			return os.WriteFile(outside(s).path("opt/hostedtoolcache/python/x64/python"), []byte("evil"), 0o644)
		},
		"x64 was changed": func(s Scrubber) error {
			x64 := outside(s).path("opt/hostedtoolcache/python/x64")
			return errors.Join(os.RemoveAll(x64), os.Symlink(outside(s).path("etc"), x64))
		},
		"conf was changed":  func(s Scrubber) error { return os.Remove(outside(s).path("etc/conf")) },
		"writable: no such": func(s Scrubber) error { return os.Remove(filepath.Join(s.Root, writableFile)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			put(otherUser, "opt/hostedtoolcache/python/x64/python", "of the image")
			put(otherUser, "etc/conf", "of the image")
			put(0, "etc/passwd", "root")
			for _, dir := range []string{"opt/hostedtoolcache", "opt/hostedtoolcache/python", "opt/hostedtoolcache/python/x64"} {
				open(t, s, dir, 0o777)
			}
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := do(s); err != nil {
				t.Fatal(err)
			}
			put(otherUser, "opt/hostedtoolcache/new", "evil")
			if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), name) {
				t.Errorf("Scrub = %v, want ErrNotClean and %q", err, name)
			}
			if !exists(outside(s).path("etc/passwd")) {
				t.Error("what the link led to is gone")
			}
		})
	}
}

// H42: folders of other instances come and go beside this one.
func TestScrub_OtherInstances_H42(t *testing.T) {
	s, put := place(t)
	put(otherUser, "fleet/i-2/scratch/file", "x")
	s.Others = []string{outside(s).path("fleet")}
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(outside(s).path("fleet/i-2")); err != nil {
		t.Fatal(err)
	}
	put(otherUser, "fleet/i-3/scratch/file", "x")
	if err := s.Scrub(t.Context(), "full"); err != nil || !exists(outside(s).path("fleet/i-3/scratch/file")) {
		t.Errorf("Scrub = %v, want another instance's folder left alone", err)
	}
}

// H42: a machine made of the image of another one has a baseline of its own: the other's knows folders in memory that
// are not there any more.
func TestForget_Baseline_H42(t *testing.T) {
	s, put := place(t)
	open(t, s, "run/lock", 0o777|os.ModeSticky)
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(outside(s).path("run")); err != nil {
		t.Fatal(err)
	}
	put(0, "run/other", "x")
	if err := Forget(s.Root); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.TakeBaseline(t.Context()), s.Scrub(t.Context(), "full")); err != nil {
		t.Errorf("Scrub = %v", err)
	}
}
