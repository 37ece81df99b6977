package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// headlessEnv makes the test program end its main thread. The runtime's other threads run on.
const headlessEnv = "REMUDA_PROCESS_HEADLESS"

func init() {
	if os.Getenv(headlessEnv) == "" {
		return
	}
	runtime.LockOSThread()
	_, _, errno := unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	panic(errno)
}

// H42: a process whose main thread has ended is shown as a zombie without an environment. It runs: it is found
// by its user, its descent and its mark, and killed.
func TestHeadless_IsFoundAndKilled_H42(t *testing.T) {
	value := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{headlessEnv + "=1", testEnv + "=" + value}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pid := strconv.Itoa(cmd.Process.Pid)
	eventually(t, "its main thread has ended", func() bool {
		line, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && bytes.Contains(line, []byte(") Z "))
	})
	ref, err := Lookup(cmd.Process.Pid)
	if err != nil || !ref.Alive() {
		t.Fatalf("Lookup = %v, %v, alive %v", ref, err, ref.Alive())
	}
	looks := map[string]func() ([]Ref, error){
		"Processes":   func() ([]Ref, error) { return User{UID: os.Getuid()}.Processes() },
		"Descendants": func() ([]Ref, error) { return Search{Ancestor: os.Getpid()}.Find() },
		"Find":        func() ([]Ref, error) { return Find(testEnv, value) },
	}
	for name, look := range looks {
		if found, err := look(); err != nil || !contains(found, ref) {
			t.Errorf("%s = %v, %v, want %v among them", name, found, err, ref)
		}
	}
	if err := KillAll(ref); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has ended, unreaped", func() bool { return !ref.Alive() })
	for name, look := range looks {
		if found, err := look(); err != nil || contains(found, ref) {
			t.Errorf("%s after its end = %v, %v", name, found, err)
		}
	}
}
