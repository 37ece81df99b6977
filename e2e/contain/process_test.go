package contain

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// H42: a process whose main thread has ended, which the kernel shows as a zombie, does not outlive its run, and
// steals nothing from the next.
func TestGhost_H42(t *testing.T) {
	w := newWorld(t)
	machine := w.run("100", w.does("plain", "stay:ghost"))
	if n := threads(t, w.of("ghost")); n != 0 {
		t.Errorf("%d threads of the first run's ghost live on", n)
	}
	w.clean(machine)
	w.run("200", "env GITHUB_TOKEN=ghs_of_the_second_run sleep 1")
	if got := w.of("stolen"); got != "" {
		t.Errorf("the ghost of run 100 read of run 200: %s", got)
	}
}

// H42: nor does one that moved to a subordinate uid, in a user namespace, behind a parent whose main thread has
// ended.
func TestSubordinateUID_H42(t *testing.T) {
	w := newWorld(t)
	host := 2_100_000_000 + w.user.UID // nobody's
	machine := w.run("100", w.does("plain", fmt.Sprintf("stay:subuid:%s,%d", filepath.Join(w.programs, "rooted"), host)))
	if why := w.of("subuid.impossible"); why != "" {
		t.Skipf("no user namespaces for users here: %s", why)
	}
	if n := threads(t, w.of("subuid")); n != 0 {
		t.Errorf("%d threads of user %d live on", n, host)
	}
	w.clean(machine)
}

// H42: shared memory, semaphores, message queues and keys do not reach the next run.
func TestKernelObjects_H42(t *testing.T) {
	w := newWorld(t)
	machine := w.run("100", w.does("plain", "leave")+w.does("plain", "seek"))
	if got := w.of("found"); !strings.HasPrefix(got, "4 of 4 in the kernel") {
		t.Fatalf("in the run that left them: %s", got)
	}
	w.clean(machine)
	if again := w.run("200", w.does("plain", "seek")); again != machine {
		t.Fatalf("run 200 got %s, want %s again", again, machine)
	}
	if got := w.of("found"); got != "0 of 4 in the kernel" {
		t.Errorf("the next run found %s", got)
	}
}

// H42: what the runner's user has before the first run is ended before it: a run could change it to work for it
// later.
func TestProcessOfBefore_H42(t *testing.T) {
	w := newWorld(t)
	cmd := exec.Command("/bin/sleep", "3600")
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uint32(w.user.UID), Gid: uint32(w.user.GID)}}
	w.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	machine := w.request("100")
	if n := threads(t, strconv.Itoa(cmd.Process.Pid)); n != 0 {
		t.Errorf("a process from before the first run lives beside it")
		w.Check(cmd.Process.Kill())
	}
	<-ended
	w.job("100", "true")
	w.release("100")
	w.clean(machine)
}
