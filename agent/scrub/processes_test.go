package scrub

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/process"
)

// H42: processes of the user that nothing else marks are ended: what runs before the first run, which it could
// change, before that; and what moved to a uid that the user may give away.
func TestScrub_ProcessesOfTheUser_H42(t *testing.T) {
	s, put := place(t)
	put(0, "etc/subuid", fmt.Sprintf("otherUser:%d:1\n", otherUser+1))
	daemon := func(uid int) *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		cmd.Env = []string{"NOTHING=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	other := daemon(otherUser + 2)
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	before := []*exec.Cmd{daemon(otherUser), daemon(otherUser + 1)}
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	of := []*exec.Cmd{daemon(otherUser), daemon(otherUser + 1)}
	if err := s.Scrub(t.Context(), "workspace"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	for _, cmd := range append(before, of...) {
		if err := cmd.Wait(); err == nil {
			t.Error("a process of the user ended by itself")
		}
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process of another user: %v", err)
	}
}

// H42: a process that began while files were removed, as one of cron's, may have written behind the removal: that it
// can be killed does not make the machine clean.
func TestScrub_ProcessCameMeanwhile_NotClean_H42(t *testing.T) {
	s, _ := place(t)
	if err := processes(s).nothingCame(); err != nil {
		t.Fatalf("nothingCame = %v", err)
	}
	cron := exec.Command("sleep", "600")
	cron.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(otherUser), Gid: uint32(otherUser)}}
	if err := cron.Start(); err != nil {
		t.Fatal(err)
	}
	if err := processes(s).nothingCame(); err == nil || !strings.Contains(err.Error(), "began while the machine was cleaned") {
		t.Errorf("nothingCame = %v", err)
	}
	if err := processes(s).killAll(t.Context()); err != nil {
		t.Error(err)
	}
	if err := cron.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}

// H42: the same of a whole scrub: what came is not killed unseen by a later look.
func TestScrub_ProcessCameDuringRemoval_NotClean_H42(t *testing.T) {
	s, put := place(t)
	if err := s.TakeBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	const files, tries = 2000, 20
	for range tries {
		put(0, "tmp/instance/scratch/first", "x") // is removed before those in tmp
		for i := range files {
			put(otherUser, fmt.Sprintf("tmp/many/%d", i), "")
		}
		cron := exec.Command("sleep", "600")
		cron.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(otherUser), Gid: uint32(otherUser)}}
		during := make(chan bool)
		go func() {
			for exists(filepath.Join(s.Root, "scratch/first")) {
				runtime.Gosched()
			}
			err := cron.Start()
			left, _ := os.ReadDir(filepath.Join(s.System, "tmp/many"))
			during <- err == nil && len(left) > 0
		}()
		err := s.Scrub(t.Context(), "full")
		came := <-during
		if kerr := errors.Join(processes(s).killAll(t.Context()), outside(s).removeUsers()); kerr != nil {
			t.Fatal(kerr)
		}
		if werr := cron.Wait(); werr == nil {
			t.Fatal("it ended by itself")
		}
		if !came {
			continue // the computer was too busy to begin it in time
		}
		if !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), "began while the machine was cleaned") {
			t.Errorf("Scrub = %v, want ErrNotClean for the process that began", err)
		}
		return
	}
	t.Skipf("in %d tries no process began while files were removed", tries)
}

// What is found again and again, as where something starts it anew, ends the try: the machine cannot be cleaned.
func TestKillUntilQuiet_StartedAgainAndAgain_H42(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		looks, s := 0, Scrubber{Clock: clock.RealClock{}}
		err := processes(s).killUntilQuiet(t.Context(), func() ([]process.Ref, error) {
			looks++
			return []process.Ref{{PID: 1 << 30, Start: 1}}, nil // no one has it
		})
		if err == nil || !strings.Contains(err.Error(), "1 processes cannot be killed") || looks != killTries+1 {
			t.Errorf("killUntilQuiet = %v after %d looks", err, looks)
		}
	})
}

// A person's own account, named by mistake where the computer is others' too, loses nothing.
func TestBaseline_SomebodyIsLoggedIn_Refused(t *testing.T) {
	s, _ := place(t)
	login := exec.Command("/bin/sh", "-c", fmt.Sprintf("echo %d > /proc/self/loginuid && exec setpriv --reuid %[1]d sleep 600", otherUser))
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = login.Process.Kill(); _ = login.Wait() }()
	user := process.User{UID: otherUser}
	for people, err := user.LoggedIn(); len(people) == 0; people, err = user.LoggedIn() {
		if _, lerr := process.Lookup(login.Process.Pid); err != nil || lerr != nil {
			t.Skipf("the kernel knows no logins: %v, %v", err, lerr)
		}
	}
	if err := s.TakeBaseline(t.Context()); err == nil || !strings.Contains(err.Error(), "of a login") {
		t.Errorf("TakeBaseline = %v", err)
	}
	if _, err := process.Lookup(login.Process.Pid); err != nil {
		t.Errorf("the person's process: %v", err)
	}
	s.Whole = true
	if err := processes(s).killUsers(t.Context()); err != nil {
		t.Errorf("killUsers on a computer of its own = %v", err)
	}
	if _, err := process.Lookup(login.Process.Pid); err == nil {
		t.Error("the login outlives the baseline of a computer of its own")
	}
}
