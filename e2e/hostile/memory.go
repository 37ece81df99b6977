package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
)

// cleanup is how long the processes of a test may take to end.
const cleanup = time.Minute

// Confined returns the command that runs the program under test in a memory cgroup of limit bytes. The end of the test removes the cgroup.
// If no cgroup can be made, the program runs without one and the test logs that.
func Confined(t testing.TB, limit int64) (command string, args []string) {
	t.Helper()
	for _, v := range []struct{ folder, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		group := filepath.Join(v.folder, fmt.Sprintf("remuda-test-%d", time.Now().UnixNano()))
		if err := os.Mkdir(group, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := program.Until(cleanup, "the cgroup is empty", func() bool { return os.Remove(group) == nil }); err != nil {
				t.Error(err)
			}
		})
		if os.WriteFile(filepath.Join(group, v.limit), fmt.Append(nil, limit), 0o600) != nil {
			continue
		}
		_ = os.WriteFile(filepath.Join(group, v.swap), fmt.Append(nil, limit), 0o600) // a kernel without swap has none
		return "/bin/sh", []string{"-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(group, "cgroup.procs"), program.Binary}
	}
	t.Log("no memory cgroup can be made here: the controller runs without one")
	return program.Binary, nil
}

var peak = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// Peak returns the peak of a process's resident memory, in MiB.
func Peak(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kB, err := strconv.Atoi(string(peak.FindSubmatch(status)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB / 1024
}

// Seconds returns the CPU time that a process has taken.
func Seconds(t testing.TB, pid int) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):])) // user and system time are fields 14 and 15 of proc(5)
	total := 0.0
	for _, field := range fields[12:14] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		total += float64(ticks) / 100
	}
	return total
}
