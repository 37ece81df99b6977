package contain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/e2e/program"
)

// withoutGroups gives this test, and what it starts, mounts of its own, in which control groups of version 2 cannot be made.
func withoutGroups(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // for ever: the thread ends with the test
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		t.Skipf("no mounts of its own here: %v", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if where := strings.Fields(before); strings.HasPrefix(after, "cgroup2 ") {
			if err := unix.Unmount(where[4], unix.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Where no control group can be had, a PID namespace holds the listener: a job finds its way and the hook its worker, a killed
// agent's successor has nothing to adopt on a process fleet, and nothing of a run is there in the next one. S-0
func TestNamespace_Review_S0(t *testing.T) {
	withoutGroups(t)
	w := newWorld(t)
	machine := w.run("100", w.does("plain", "stay:ghost")+"test \"$PPID\" -lt 1000\n")
	w.clean(machine)
	if again := w.request("200"); again != machine {
		t.Fatalf("run 200 got %s, want %s again", again, machine)
	}
	if _, err := program.Run(t.Context(), w.dir, w.env, "dev", "submit", "--run", "200", "--run-id", "300", "--wait", "--script", "touch "+filepath.Join(w.dir, "ran")); err == nil {
		t.Error("a job of run 300 ran on the instance of run 200")
	}
	w.job("200", "env GITHUB_TOKEN=ghs_of_the_second_run sleep 1")
	if got := w.of("stolen"); got != "" {
		t.Errorf("the process of run 100 read of run 200: %s", got)
	}
	w.release("200")
	w.clean(machine)
	if text := w.log(machine); !strings.Contains(text, `"boundary of listeners chosen","detail":"pidns:`) {
		t.Errorf("the agent has no PID namespace:\n%s", text)
	}
}

// Ids of other users in the file that names them, without the setting that allows them, fail the request at the first instance,
// with the remedy, and nothing more is launched; config and doctor say so before. With the setting the request is served. S-0
func TestRefused_SubordinateIDs_Review_S0(t *testing.T) {
	for _, file := range []string{"subuid", "subgid"} {
		t.Run(file, func(t *testing.T) {
			root, _ := disk(t)
			w := newWorld(t, "REMUDA_ROOT="+root)
			ids := filepath.Join(root, "etc", file)
			w.Check(errors.Join(os.MkdirAll(filepath.Dir(ids), 0o755), os.WriteFile(ids, []byte(w.user.Name+":2100000000:65536\n"), 0o644)))
			want := "etc/" + file + " gives ids of other users to " + w.user.Name
			_, err := program.Run(t.Context(), w.dir, w.env, "request", "--id", "100", "--count", "1", "--resource-class", "small", "--timeout", stepTimeout)
			if err == nil || !strings.Contains(err.Error(), "host") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "agent.allowSubordinateIds") {
				t.Fatalf("request = %v, want that it failed: host, because %s", err, want)
			}
			all := w.instances()
			if len(all) != 1 {
				t.Fatalf("%d instances were launched, want 1", len(all))
			}
			if log := w.log(string(all[0].ID)); !strings.Contains(log, want) || strings.Contains(log, "listener started") {
				t.Errorf("log of the agent, which must say why and register nothing:\n%s", log)
			}
			for _, command := range [][]string{{"config"}, {"doctor"}} {
				cmd := exec.Command(program.Binary, command...)
				cmd.Dir, cmd.Env = w.dir, w.env
				out, err := cmd.CombinedOutput()
				if !strings.Contains(string(out), want) {
					t.Errorf("remuda %s does not say that %s: %v\n%s", command[0], want, err, out)
				}
			}
		})
	}
	root, _ := disk(t)
	w := newWorld(t, "REMUDA_ROOT="+root, "REMUDA_AGENT_ALLOW_SUBORDINATE_IDS=true")
	ids := filepath.Join(root, "etc/subuid")
	w.Check(errors.Join(os.MkdirAll(filepath.Dir(ids), 0o755), os.WriteFile(ids, []byte(w.user.Name+":2100000000:65536\n"), 0o644)))
	w.clean(w.run("100", "true"))
}

// A machine that offers neither control groups nor PID namespaces refuses level full. S-0
func TestRefused_NoBoundary_Review_S0(t *testing.T) {
	withoutGroups(t)
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil {
		t.Skipf("no process without CAP_SYS_ADMIN here: %v", err)
	}
	w := newWorld(t)
	_, err := program.Run(t.Context(), w.dir, w.env, "request", "--id", "100", "--count", "1", "--resource-class", "small", "--timeout", stepTimeout)
	if err == nil || !strings.Contains(err.Error(), "level full of class small") || !strings.Contains(err.Error(), "no PID namespace") {
		t.Errorf("request = %v, want that it failed because there is no PID namespace", err)
	}
	if all := w.instances(); len(all) != 1 {
		t.Errorf("%d instances were launched, want 1", len(all))
	}
}
