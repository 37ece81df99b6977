package scrub

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// letRead gives otherUser an entry in the access control list of a file, as systemd-coredump and journald do.
func letRead(t *testing.T, path string) {
	t.Helper()
	const none = 1<<32 - 1
	list := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 6, none}, {2, 4, uint32(otherUser)}, {4, 4, none}, {16, 4, none}, {32, 0, none}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	if err := errors.Join(os.Chmod(path, 0o640), unix.Setxattr(path, "system.posix_acl_access", list, 0)); err != nil {
		t.Skipf("no access control lists here: %v", err)
	}
}

// Level full removes the files that services wrote for the runner's user during the run. Files from before the run stay, and so
// do files for others.
func TestScrub_FilesOfServices_Review_S5(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprintf("Whole=%v", whole), func(t *testing.T) {
			s, put := place(t)
			journal := fmt.Sprintf("var/log/journal/abc/user-%d", otherUser)
			put(0, "var/lib/systemd/coredump/core.image", "of the image")
			letRead(t, outside(s).path("var/lib/systemd/coredump/core.image"))
			put(0, "var/log/journal/abc/system.journal", "x")
			put(0, journal+".journal", "of the image")
			put(otherUser, "var/lib/tool/data", "of the image")
			put(0, "var/lib/closed/any", "x")
			if err := os.Chmod(outside(s).path("var/lib/closed"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Whole = whole
			lists := []string{"var/lib/systemd/coredump/core.x\ny", "run/log/journal/abc/other.journal"}
			gone := append([]string{journal + "@0001.journal", journal + ".journal", journal + "@0001.journal~"}, lists...)
			for _, path := range gone {
				put(0, path, "memory of the run")
			}
			for _, path := range lists {
				letRead(t, outside(s).path(path))
			}
			for _, path := range []string{"var/mail/otherUser", "var/lib/AccountsService/users/otherUser", "run/helper/x", "var/lib/made/folder/deep"} {
				put(otherUser, path, "x")
				gone = append(gone, path)
			}
			put(0, fmt.Sprintf("run/user/%d/roots", otherUser), "x")
			if err := os.Chown(outside(s).path(fmt.Sprintf("run/user/%d", otherUser)), otherUser, otherUser); err != nil {
				t.Fatal(err)
			}
			gone = append(gone, fmt.Sprintf("run/user/%d/roots", otherUser))
			kept := []string{
				"var/lib/systemd/coredump/core.image", "var/log/journal/abc/system.journal", "var/lib/tool/data", "var/lib/closed/any",
				"var/lib/systemd/coredump/core.root", fmt.Sprintf("var/log/journal/abc/user-%d1.journal", otherUser), "var/log/apt.log",
			}
			for _, path := range kept[4:] {
				put(0, path, "x")
			}
			put(0, "var/log/app.log", "with a list")
			letRead(t, outside(s).path("var/log/app.log"))
			if whole {
				gone = append(gone, "var/log/app.log")
			} else { // of a service that may serve others too
				kept = append(kept, "var/log/app.log")
			}
			was, err := s.remembered()
			if err == nil {
				err = errors.Join(outside(s).removeUsers(), outside(s).removeKept(was)) // a scrub of all would be one of this computer
			}
			if err != nil {
				t.Fatalf("remove = %v", err)
			}
			for _, path := range gone {
				if exists(outside(s).path(path)) {
					t.Errorf("%q reaches the next run", path)
				}
			}
			for _, path := range kept {
				if !exists(outside(s).path(path)) {
					t.Errorf("%q is gone, and was not the run's", path)
				}
			}
		})
	}
}

// A file of the image that the user can read and that changed during the run may hold data of the run.
func TestScrub_FileOfAServiceChanged_NotClean_Review_S5(t *testing.T) {
	s, put := place(t)
	file := "var/lib/systemd/coredump/core.image"
	put(0, file, "of the image")
	letRead(t, outside(s).path(file))
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside(s).path(file), []byte("of the run"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), file+" was changed") {
		t.Errorf("Scrub = %v, want ErrNotClean because of %s", err, file)
	}
}

// The cleanup waits for a service that still writes a core dump. If the service does not finish, the cleanup fails.
func TestScrub_CoreDumpIsWritten_Review_S5(t *testing.T) {
	for _, name := range []string{"systemd-coredum", "(coredump)", "apport", "abrt-hook-ccpp"} {
		t.Run(name, func(t *testing.T) {
			s, put := place(t)
			put(0, "proc/1/comm", "systemd\n")
			put(0, "proc/4711/comm", name+"\n")
			fake := clocktesting.NewFakeClock(time.Now())
			s.Clock = fake
			done := make(chan error, 1)
			go func() { done <- outside(s).settle(t.Context()) }()
			for tries := 0; ; {
				select {
				case err := <-done:
					if want := "proc/4711 (" + name + ") did not finish"; tries != settleTries || err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("settle = %v after %d waits, want %q after %d", err, tries, want, settleTries)
					}
					return
				default:
				}
				if fake.HasWaiters() {
					tries++
					fake.Step(killPause)
				}
			}
		})
	}
	s, put := place(t)
	put(0, "proc/4711/comm", "systemd-coredum\n")
	fake := clocktesting.NewFakeClock(time.Now())
	s.Clock = fake
	done := make(chan error, 1)
	go func() { done <- outside(s).settle(t.Context()) }()
	for !fake.HasWaiters() {
		if len(done) > 0 {
			t.Fatalf("settle = %v, want it to wait", <-done)
		}
	}
	if err := os.RemoveAll(outside(s).path("proc/4711")); err != nil {
		t.Fatal(err)
	}
	fake.Step(killPause)
	if err := <-done; err != nil {
		t.Errorf("settle = %v", err)
	}
}

// journald may write the last messages of a run late. The cleanup has journald write them first, and removes the journal then.
func TestScrub_JournalIsWrittenLate_Review_S5(t *testing.T) {
	s, put := place(t)
	s.Clock = clock.RealClock{}
	journal := outside(s).path(fmt.Sprintf("var/log/journal/abc/user-%d.journal", otherUser))
	put(0, "run/systemd/journal/socket", "")
	put(0, "var/log/journal/abc/system.journal", "")
	bin := t.TempDir()
	program := "#!/bin/sh\n[ \"$1\" = --sync ] && echo late > " + strconv.Quote(journal) + "\n"
	if err := os.WriteFile(filepath.Join(bin, "journalctl"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(t.Context(), "full"); err != nil || exists(journal) {
		t.Errorf("Scrub = %v, and the late journal is there: %v", err, exists(journal))
	}
	if err := os.WriteFile(filepath.Join(bin, "journalctl"), []byte("#!/bin/sh\necho no journal; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Scrub(t.Context(), "full"); !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), "no journal") {
		t.Errorf("Scrub = %v, want ErrNotClean because journalctl failed", err)
	}
}
