package boundary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/process"
)

// TestMain lets this program be the first process of a PID namespace.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == InitCommand {
		args, user := os.Args[2:], ""
		if len(args) > 1 && args[0] == "--user" {
			args, user = args[2:], args[1]
		}
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if err := Init(user, args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "ghost" {
		ghost()
	}
	os.Exit(m.Run())
}

// init keeps the first goroutine of a ghost on the main thread.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "ghost" {
		runtime.LockOSThread()
	}
}

// ghost ends its main thread, while another one lives on.
func ghost() {
	go func() { select {} }()
	go func() { time.Sleep(time.Hour) }()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// A process whose main thread has ended, which the kernel does not count among those that a group has to end, ends too. S-0
func TestBoundary_Ghost_Review_S0(t *testing.T) {
	for name, b := range boundaries(t) {
		t.Run(name, func(t *testing.T) {
			ref, err := b.Start(t.Context(), exec.Command(os.Args[0], "ghost"))
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the main thread ends", func() bool {
				line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", ref.PID))
				return err == nil && strings.Contains(string(line), ") Z ")
			})
			if !ref.Alive() {
				t.Fatal("the process has ended")
			}
			if err := b.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ref.Alive() {
				t.Error("the process lives on")
			}
		})
	}
}

// boundaries returns one of each kind that this computer offers.
func boundaries(t *testing.T) map[string]Boundary {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make boundaries")
	}
	g, err := openGroup(strings.ToLower(fmt.Sprintf("test-%d-%s", os.Getpid(), filepath.Base(t.Name()))))
	n, nerr := openNamespace(os.Args[0])
	if err != nil || nerr != nil {
		t.Skipf("this computer does not offer both kinds: %v; %v", err, nerr)
	}
	return map[string]Boundary{"cgroup": g, "pidns": n}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// escapes is a shell program whose children leave session, parent and environment. It ends by itself with status 7.
const escapes = `for i in 1 2 3; do setsid env -i /bin/sh -c 'echo $$ >> left; exec sleep "$0"' "$0" & done
until test "$(wc -l < left)" = 3; do :; done
exit 7`

// Whatever a process does without root, End ends all that it started, and Wait has its status. S-0
func TestBoundary_NothingIsLeft_Review_S0(t *testing.T) {
	for name, b := range boundaries(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			left := filepath.Join(dir, "left")
			if err := os.WriteFile(left, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			mark := fmt.Sprintf("600.%d", os.Getpid())
			cmd := exec.Command("/bin/sh", "-c", escapes, mark)
			cmd.Dir = dir
			ref, err := b.Start(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the first process ends", func() bool { return !ref.Alive() })
			if status, ok := b.Wait(ref); status != 7 || !ok {
				t.Errorf("Wait = %d, %v, want 7", status, ok)
			}
			var before int
			eventually(t, "three processes are left", func() bool { before = sleepers(t, mark); return before == 3 })
			if err := b.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := sleepers(t, mark); n != 0 {
				t.Errorf("%d processes are left", n)
			}
			if err := b.End(t.Context()); err != nil {
				t.Errorf("End of what has ended = %v", err)
			}
		})
	}
}

// A process that has ended before Start returns is not confused with one that it left. S-0
func TestBoundary_EndedAtOnce_Review_S0(t *testing.T) {
	for name, b := range boundaries(t) {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				ref, err := b.Start(t.Context(), exec.Command("/bin/sh", "-c", "sleep 600 & exit 7"))
				if err != nil {
					t.Fatal(err)
				}
				eventually(t, "the first process ends", func() bool { return !ref.Alive() })
				if status, ok := b.Wait(ref); status != 7 || !ok {
					t.Fatalf("Wait = %d, %v, want 7", status, ok)
				}
				if err := b.End(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// sleepers counts the processes that sleep for a time that no other process does.
func sleepers(t *testing.T, mark string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range all {
		if line, err := os.ReadFile(file); err == nil && string(line) == "sleep\x00"+mark+"\x00" {
			n++
		}
	}
	return n
}

// A later agent, which gets the name alone, ends what an earlier one has started; and Kill does not wait. S-0
func TestBoundary_Resume_Review_S0(t *testing.T) {
	for name, b := range boundaries(t) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sleep", "600")
			ref, err := b.Start(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			next := map[string]func() Boundary{
				"cgroup": func() Boundary { return b }, "pidns": func() Boundary { return &namespace{} },
			}[name]()
			next.Resume(b.Name())
			if !ref.Alive() {
				t.Fatal("the process has ended")
			}
			if err := next.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := next.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ref.Alive() {
				t.Error("the process lives on")
			}
		})
	}
}

// In a PID namespace /proc shows the namespace, so that the job-started hook finds its worker; the user is the one asked for, and
// cannot read the environment of the first process.
func TestNamespace_Proc_Review_S0(t *testing.T) {
	b := boundaries(t)["pidns"]
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", `id -u; id -G; echo $PPID; test -e /proc/$$/cmdline && echo proc; cat /proc/1/environ >/dev/null 2>&1 || echo closed; kill -9 1; echo alive`)
	cmd.Stdout, cmd.Dir = out, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54322, Groups: []uint32{54322, 54323}}}
	ref, err := b.Start(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if status, ok := b.Wait(ref); status != 0 || !ok {
		t.Errorf("Wait = %d, %v", status, ok)
	}
	text, err := os.ReadFile(out.Name())
	if want := "54321\n54322 54323\n1\nproc\nclosed\nalive\n"; err != nil || string(text) != want {
		t.Errorf("it printed %q, %v, want %q", text, err, want)
	}
	if err := b.End(t.Context()); err != nil {
		t.Error(err)
	}
}

// Each kind of boundary starts a program that sees a folder of the instance at the path of the shared home. Other processes do not see it.
func TestBoundary_View_Review_R3(t *testing.T) {
	all := boundaries(t)
	all["none"] = None()
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			own, home := t.TempDir(), t.TempDir()
			if err := errors.Join(os.WriteFile(filepath.Join(own, "file"), []byte("own"), 0o600), os.WriteFile(filepath.Join(home, "file"), []byte("shared"), 0o600)); err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(filepath.Join(own, "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd := exec.Command("/bin/cat", filepath.Join(home, "file"))
			cmd.Stdout = out
			ref, err := b.Start(t.Context(), cmd, process.Bind(own, home))
			if err != nil {
				t.Fatal(err)
			}
			if status, ok := b.Wait(ref); status != 0 || !ok {
				t.Errorf("Wait = %d, %v", status, ok)
			}
			if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "own" {
				t.Errorf("the program read %q, %v, want the instance's file", text, err)
			}
			if text, err := os.ReadFile(filepath.Join(home, "file")); err != nil || string(text) != "shared" {
				t.Errorf("this process reads %q, %v, want the shared file", text, err)
			}
			if err := b.End(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := b.Start(t.Context(), exec.Command("/bin/true"), process.Bind(own, filepath.Join(home, "none"))); err == nil || !strings.Contains(err.Error(), "bind") {
				t.Errorf("Start over a folder that is not there = %v", err)
			}
		})
	}
}

// A program that is not there is an error, and nothing is left of the try.
func TestBoundary_StartFails(t *testing.T) {
	for name, b := range boundaries(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := b.Start(t.Context(), exec.Command("/no/such/program")); err == nil || !strings.Contains(err.Error(), "no such file") {
				t.Errorf("Start = %v, want that there is no such file", err)
			}
			if g, ok := b.(group); ok {
				if _, err := os.Stat(string(g)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("its control group is there: %v", err)
				}
			}
		})
	}
}

// Sweep ends what is left of an instance whose agent was killed, and says when that is over. S-0
func TestSweep_Review_S0(t *testing.T) {
	g, ok := boundaries(t)["cgroup"].(group)
	if !ok {
		t.Fatal("no control group")
	}
	ref, err := g.Start(t.Context(), exec.Command("/bin/sleep", "600"))
	if err != nil {
		t.Fatal(err)
	}
	dir, instance := t.TempDir(), strings.TrimPrefix(filepath.Base(string(g)), prefix)
	eventually(t, "the group is swept", func() bool {
		over, err := Sweep(instance, dir)
		if err != nil {
			t.Fatal(err)
		}
		return over
	})
	if ref.Alive() {
		t.Error("the process lives on")
	}
	if over, err := Sweep(instance, dir); !over || err != nil {
		t.Errorf("Sweep of what is gone = %v, %v", over, err)
	}
	if status, ok := g.Wait(ref); status != 128+int(syscall.SIGKILL) || !ok {
		t.Errorf("Wait = %d, %v, want killed", status, ok)
	}
}

// A group that is frozen goes on after a later agent has thawed it; what was frozen before stays so. S-0
func TestFreeze_Review_S0(t *testing.T) {
	g, ok := boundaries(t)["cgroup"].(group)
	if !ok {
		t.Fatal("no control group")
	}
	root := filepath.Dir(string(g))
	outside, paused := group(filepath.Join(root, fmt.Sprintf("a-service-%d", os.Getpid()))), group(filepath.Join(root, fmt.Sprintf("paused-%d", os.Getpid())))
	var service process.Ref
	for _, of := range []group{outside, paused} {
		var err error
		if service, err = of.Start(t.Context(), exec.Command("/bin/sleep", "600")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(of.End(context.WithoutCancel(t.Context())), process.Reap()); err != nil {
				t.Error(err)
			}
		})
	}
	if err := paused.set("cgroup.freeze", "1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is paused", func() bool { frozen, err := paused.event("frozen"); return frozen && err == nil })
	if !Freezes([]process.Ref{service}, nil) || !Freezes(nil, nil) || Freezes(nil, errors.New("unknown")) {
		t.Error("Freezes does not count a service as one that can be frozen")
	}
	self, err := process.Lookup(os.Getpid())
	if err != nil || Freezes([]process.Ref{self}, nil) {
		t.Error("Freezes counts a process in this group, which is not frozen")
	}
	dir := t.TempDir()
	if err := Freeze(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, service := range []group{outside, paused} {
		if frozen, err := service.event("frozen"); !frozen || err != nil {
			t.Errorf("%s is frozen: %v, %v", service, frozen, err)
		}
	}
	for range 2 { // the second time nothing is frozen any more
		if err := Thaw(dir); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the service goes on", func() bool { frozen, err := outside.event("frozen"); return !frozen && err == nil })
	if frozen, err := paused.event("frozen"); !frozen || err != nil {
		t.Errorf("what was paused before is frozen: %v, %v", frozen, err)
	}
}
