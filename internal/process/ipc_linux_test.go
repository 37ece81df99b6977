package process

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func sysV(t *testing.T, call uintptr, args ...uintptr) int {
	t.Helper()
	id, _, errno := unix.Syscall(call, args[0], args[1], args[2])
	if errno != 0 {
		t.Fatal(errno)
	}
	return int(id)
}

// leave leaves one of each kind in the kernel, as the user of the thread, and returns the ids of System V's.
func leave(t *testing.T, queue string) (ids map[string]int) {
	t.Helper()
	shm, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Fatal(err)
	}
	name, err := unix.BytePtrFromString(queue)
	if err != nil {
		t.Fatal(err)
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if err := unix.Close(int(fd)); err != nil {
		t.Fatal(err)
	}
	return map[string]int{
		"shm": shm,
		"sem": sysV(t, unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600),
		"msg": sysV(t, unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0),
	}
}

// H42: what a user's processes left in the kernel goes, also what belongs to a subordinate uid; what is another's
// stays.
func TestUser_RemoveIPC_H42(t *testing.T) {
	u := tester(t)
	u.UID += 2_000_000
	u.Subordinate[0].First += 2_000_000
	queue := func(uid int) string { return fmt.Sprintf("remuda-%d", uid) }
	for _, uid := range []int{u.UID, u.Subordinate[0].First} {
		if err := (User{UID: uid}).do(func() error { leave(t, queue(uid)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	other := User{UID: u.UID + 1}
	var theirs map[string]int
	if err := other.do(func() error { theirs = leave(t, queue(other.UID)); return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.RemoveIPC(); err != nil {
			t.Error(err)
		}
	})
	if err := u.RemoveIPC(); err != nil {
		t.Fatalf("RemoveIPC = %v", err)
	}
	for kind, id := range theirs {
		if left, err := u.sysV(kind); err != nil || len(left) != 0 {
			t.Errorf("%s of the user: %v, %v", kind, left, err)
		}
		if left, err := other.sysV(kind); err != nil || len(left) != 1 || left[0] != id {
			t.Errorf("%s of another user: %v, %v, want %d", kind, left, err, id)
		}
	}
	view, err := queues()
	if err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]error{u.UID: unix.ENOENT, u.Subordinate[0].First: unix.ENOENT, other.UID: nil} {
		var st unix.Stat_t
		if err := unix.Fstatat(view, queue(uid), &st, 0); !errors.Is(err, want) {
			t.Errorf("message queue of user %d: %v, want %v", uid, err, want)
		}
	}
}

// H42: no key of a user is left in a keyring that outlives its processes.
func TestUser_ClearKeyrings_H42(t *testing.T) {
	u := tester(t)
	u.UID += 3_000_000
	rings := func() []int { // who asks for the persistent one possesses it
		if persistent, err := unix.KeyctlInt(unix.KEYCTL_GET_PERSISTENT, -1, unix.KEY_SPEC_THREAD_KEYRING, 0, 0); err == nil {
			return append(keyrings[:len(keyrings):len(keyrings)], persistent)
		}
		return keyrings
	}
	err := u.do(func() error {
		for _, ring := range rings() {
			if _, err := unix.AddKey("user", "left", []byte("by run A"), ring); err != nil {
				return err
			}
		}
		return nil
	})
	if withoutKeys(err) {
		t.Skipf("no keyrings here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := u.ClearKeyrings(); err != nil {
		t.Fatal(err)
	}
	err = u.do(func() error {
		for _, ring := range rings() {
			if _, err := unix.KeyctlSearch(ring, "user", "left", 0); !errors.Is(err, unix.ENOKEY) {
				t.Errorf("key in keyring %d: %v, want none", ring, err)
			}
		}
		if _, err := unix.AddKey("user", "next", []byte("by run B"), unix.KEY_SPEC_USER_KEYRING); err != nil {
			return err
		}
		_, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_SESSION_KEYRING, "user", "next", 0)
		return err
	})
	if err != nil {
		t.Errorf("the next run's own key: %v", err)
	}
	if err := u.ClearKeyrings(); err != nil {
		t.Error(err)
	}
}
