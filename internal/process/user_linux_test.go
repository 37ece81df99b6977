package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tester is a user that has nothing on any machine, and no other run of these tests: its subordinate uids are far
// from those that useradd(8) gives.
func tester(t *testing.T) User {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may become another user")
	}
	uid := 1_000_000_000 + 2*(os.Getpid()%1_000_000)
	return User{UID: uid, Subordinate: []UIDs{{uid + 1_000_000_000, 2}}}
}

// as starts a program that stays, of a user, in a session of its own and without any mark.
func as(t *testing.T, uid int, env []string, program ...string) (*exec.Cmd, io.Writer, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = env, "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	in, err := cmd.StdinPipe()
	out, oerr := cmd.StdoutPipe()
	if err := errors.Join(err, oerr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewScanner(out)
}

// public copies this program to where every user can execute it.
func public(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(os.Args[0])
	path := filepath.Join(dir, "program")
	if err := errors.Join(err, os.WriteFile(path, b, 0o755), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// H42: the kernel kills all of a user at once, whatever forks, has left its main thread, or moved to a uid of a
// namespace of its own; no others, and not us.
func TestUser_Kill_H42(t *testing.T) {
	u, program := tester(t), public(t)
	plain, _, _ := as(t, u.UID, nil, "/bin/sleep", "600")
	headless, _, _ := as(t, u.UID, []string{headlessEnv + "=1"}, program)
	as(t, u.UID, nil, "/bin/sh", "-c", "while :; do /bin/true & done")
	other, _, _ := as(t, u.UID+1, nil, "/bin/sleep", "600")
	inside := inNamespace(t, u, program)
	refs := make([]Ref, 0, 3)
	for _, pid := range []int{plain.Process.Pid, headless.Process.Pid, inside} {
		ref, err := Lookup(pid)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	eventually(t, "the user's processes are found", func() bool {
		found, err := u.Processes()
		return err == nil && !slices.ContainsFunc(refs, func(r Ref) bool { return !contains(found, r) })
	})
	if err := u.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "none of them is left", func() bool { found, err := u.Processes(); return err == nil && len(found) == 0 })
	if ref, err := Lookup(other.Process.Pid); err != nil || !ref.Alive() {
		t.Errorf("another user's process was killed: %v", err)
	}
	if err := u.Kill(); err != nil {
		t.Errorf("Kill of nobody = %v", err)
	}
}

// nsEnv makes this program move into a user namespace: "make" makes one, "in" waits there for its uids, takes
// the first, and stays.
const nsEnv = "REMUDA_PROCESS_NAMESPACE"

func init() {
	switch os.Getenv(nsEnv) {
	case "make":
		cmd := exec.Command("/proc/self/exe")
		cmd.Env, cmd.Stdin, cmd.Stdout = []string{nsEnv + "=in"}, os.Stdin, os.Stdout
		// Rights in it would be lost by execution as no root of it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_SETUID}}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
		_ = cmd.Wait() // it is killed
		os.Exit(0)
	case "in":
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		if err := syscall.Setresuid(0, 0, 0); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("moved")
		time.Sleep(time.Hour)
	}
}

// inNamespace starts a process that has a subordinate uid of u, in a namespace that u made, as a container without
// root does. It leaves the tree: its parent is killed.
func inNamespace(t *testing.T, u User, program string) (pid int) {
	t.Helper()
	maker, in, out := as(t, u.UID, []string{nsEnv + "=make"}, program)
	out.Scan()
	if _, err := fmt.Sscan(out.Text(), &pid); err != nil {
		t.Skipf("no user namespaces here: %s", out.Text())
	}
	host := u.Subordinate[0].First
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/uid_map", pid), fmt.Appendf(nil, "0 %d 1", host), 0); err != nil { // as newuidmap(1) does
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if out.Scan(); out.Text() != "moved" {
		t.Fatalf("process in a namespace says %q", out.Text())
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nUid:\t%d\t", host)) {
		t.Fatalf("it is not user %d: %v\n%s", host, err, status)
	}
	if err := maker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	return pid
}

// Whom a person's login began is known from what a service began.
func TestUser_LoggedIn(t *testing.T) {
	u := tester(t)
	u.UID += 4_000_000
	if _, err := os.ReadFile("/proc/self/loginuid"); err != nil {
		t.Skipf("the kernel knows no logins: %v", err)
	}
	as(t, u.UID, nil, "/bin/sleep", "600")
	if found, err := u.LoggedIn(); err != nil || len(found) != 0 {
		t.Errorf("LoggedIn without a login = %v, %v", found, err)
	}
	login := exec.Command("/bin/sh", "-c", fmt.Sprintf("echo %d > /proc/self/loginuid && exec setpriv --reuid %[1]d sleep 600", u.UID))
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = login.Process.Kill(); _ = login.Wait() })
	eventually(t, "the login is known", func() bool {
		found, err := u.LoggedIn()
		return err == nil && len(found) == 1 && found[0].PID == login.Process.Pid
	})
}

// A process of a subordinate uid is found by the uid, and by who made its namespace where no file names uids.
func TestUser_Processes_Subordinate_H42(t *testing.T) {
	u := tester(t)
	u.UID += 1_000_000 // not TestUser_Kill's
	u.Subordinate[0].First += 1_000_000
	byUID, _, _ := as(t, u.Subordinate[0].First+1, nil, "/bin/sleep", "600")
	inside := inNamespace(t, u, public(t))
	for name, tt := range map[string]struct {
		user User
		pid  int
	}{
		"ByUID": {u, byUID.Process.Pid}, "ByNamespace": {User{UID: u.UID}, inside},
	} {
		ref, err := Lookup(tt.pid)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := tt.user.Processes(); err != nil || !contains(found, ref) {
			t.Errorf("%s: Processes = %v, %v, want %v among them", name, found, err, ref)
		}
		if err := KillAll(ref); err != nil {
			t.Error(err)
		}
	}
}

// One who kills all of a user must not be that user, nor may it be root: everything would end.
func TestUser_Kill_NotRoot_NotUs(t *testing.T) {
	for _, uid := range []int{0, -1, os.Getuid()} {
		if err := (User{UID: uid}).Kill(); !errors.Is(err, ErrNotAlone) {
			t.Errorf("Kill of user %d = %v, want ErrNotAlone", uid, err)
		}
	}
}

// No thread stays the user.
func TestUser_Do_LeavesNoThread(t *testing.T) {
	u := tester(t)
	for range 20 {
		if err := u.do(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "every thread is root's", func() bool {
		threads, err := filepath.Glob("/proc/self/task/*/status")
		for _, file := range threads {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), fmt.Sprintf("Uid:\t%d", u.UID)) {
				return false
			}
		}
		return err == nil && len(threads) > 0
	})
}

func TestLookupUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "subuid")
	if none, err := LookupUser("runner", 1001, file); err != nil || len(none.Subordinate) != 0 {
		t.Errorf("LookupUser without a file = %+v, %v", none, err)
	}
	text := "other:100000:65536\nrunner:165536:65536\nrunner:x:1\nrunner:0\n\n1001:231072:10\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := LookupUser("runner", 1001, file)
	if err != nil || !slices.Equal(u.Subordinate, []UIDs{{165536, 65536}, {231072, 10}}) {
		t.Fatalf("LookupUser = %+v, %v", u, err)
	}
	for uid, want := range map[int]bool{1001: true, 1002: false, 100000: false, 165535: false, 165536: true, 231071: true, 231081: true, 231082: false, 0: false} {
		if u.Owns(uid) != want {
			t.Errorf("Owns(%d) = %v, want %v", uid, !want, want)
		}
	}
	if (User{UID: 5, Subordinate: []UIDs{{0, 10}}}).Owns(0) {
		t.Error("root belongs to a user")
	}
}

// H42: while a thread is the user, no process of that user can send it a signal, which would end or stop all of us.
func TestUser_Do_NotTheUsersToSignal_H42(t *testing.T) {
	u := tester(t)
	err := u.doAs(nobody, func() error {
		cmd := exec.Command("/bin/sh", "-c", "kill -0 "+strconv.Itoa(unix.Gettid()))
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.UID)}}
		started := make(chan error, 1)
		go func() { started <- cmd.Run() }() // on another thread
		if err := <-started; err == nil {
			return errors.New("the user may signal it")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
