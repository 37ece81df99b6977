package process_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/process"
)

func TestAncestors(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `sh -c 'echo $$; read line'; :`)
	cmd.Args[0] = "/opt/a folder/Some.Worker"
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	above, err := process.Ancestors(pid)
	if err != nil || len(above) < 2 {
		t.Fatalf("Ancestors() = %+v, %v", above, err)
	}
	if got := above[0]; got.Name != "Some.Worker" || got.PID != cmd.Process.Pid || !got.Alive() {
		t.Errorf("parent = %+v, want Some.Worker, %d", got, cmd.Process.Pid)
	}
	if got := above[1]; got.PID != os.Getpid() {
		t.Errorf("parent's parent = %+v, want this process, %d", got, os.Getpid())
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := process.Ancestors(cmd.Process.Pid); err == nil {
		t.Error("Ancestors() of a process that has ended: no error")
	}
}
