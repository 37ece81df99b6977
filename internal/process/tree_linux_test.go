package process

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// helperEnv makes the test program itself the parent of orphans: adoption holds for a whole process.
const helperEnv = "REMUDA_PROCESS_ADOPTER"

// H42: what left group, session, environment and parent is a descendant still, and what of it ended
// is reaped.
func TestDescendants_FindWhatLeftEverything_H42(t *testing.T) {
	if os.Getenv(helperEnv) != "" {
		adopter(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("helper: %v\n%s", err, out)
	}
}

func adopter(t *testing.T) {
	if err := AdoptOrphans(); err != nil {
		t.Fatal(err)
	}
	// The shell in the middle ends at once; the last one prints its pid.
	cmd := exec.Command("/bin/sh", "-c", `setsid env -i /bin/sh -c 'echo $$; exec sleep 600' & exit 0`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	line.Scan()
	pid, err := strconv.Atoi(line.Text())
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the orphan is the only descendant", func() bool {
		found, err := Search{Ancestor: os.Getpid()}.Find()
		return err == nil && len(found) == 1 && found[0].PID == pid
	})
	ref, err := Lookup(pid)
	if err != nil {
		t.Fatal(err)
	}
	if owned, err := (User{UID: os.Getuid()}).Processes(); err != nil || !contains(owned, ref) {
		t.Errorf("Processes of user %d = %v, %v, want %v among them", os.Getuid(), owned, err, ref)
	}
	if err := KillAll(ref); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the killed orphan is reaped", func() bool {
		if err := Reap(); err != nil {
			t.Fatal(err)
		}
		return syscall.Kill(pid, 0) != nil
	})
}

// Reap leaves a child alone that a part of this process waits for, and takes the others behind it. S-6
func TestReap_LeavesAwaitedChildren_Review_S6(t *testing.T) {
	cmd, other := exec.Command("true"), exec.Command("true")
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{cmd, other} {
		eventually(t, "the child has ended", func() bool { _, err := Lookup(c.Process.Pid); return err != nil })
	}
	if err := Reap(); err != nil {
		t.Fatal(err)
	}
	if err := Wait(cmd); err != nil {
		t.Errorf("Wait = %v, want the child's status", err)
	}
	if err := other.Wait(); err == nil {
		t.Error("the child that no part waited for still had a status")
	}
}

// What waits for a child may read its status by itself; a later child of the same id is not taken for it.
func TestReap_CollectedIsNotAwaited_Review_S6(t *testing.T) {
	cmd := exec.Command("true")
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	Collected(cmd.Process.Pid)
	eventually(t, "the child has ended", func() bool { _, err := Lookup(cmd.Process.Pid); return err != nil })
	if err := Reap(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("Reap left a child that no part waits for")
	}
}

func contains(refs []Ref, want Ref) bool {
	for _, r := range refs {
		if r == want {
			return true
		}
	}
	return false
}
