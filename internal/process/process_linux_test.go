package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const testEnv = "REMUDA_PROCESS_TEST"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a shell script that carries the marker and prints the pids of what it started, one per
// line, ended by "ready". The returned pids begin with the shell's own.
func start(t *testing.T, script string) (value string, pids []int) {
	t.Helper()
	value = fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), testEnv+"="+value)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		eventually(t, "all marked processes are gone", func() bool {
			refs, err := Find(testEnv, value)
			return err == nil && KillAll(refs...) == nil && len(refs) == 0
		})
		_ = cmd.Wait() // killed: its status says only that
	})
	pids = []int{cmd.Process.Pid}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("script printed %q, want a pid", lines.Text())
		}
		pids = append(pids, pid)
	}
	return value, pids
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func TestLookup_SameForOneProcess_DiffersFromAnother(t *testing.T) {
	_, pids := start(t, "echo ready; exec sleep 60")
	child, err := Lookup(pids[0])
	if err != nil || child.Start <= 0 {
		t.Fatalf("Lookup(child) = %+v, %v, want a positive start", child, err)
	}
	again, err := Lookup(pids[0])
	if err != nil || again != child {
		t.Errorf("Lookup again = %+v, %v, want %+v", again, err, child)
	}
	self, err := Lookup(os.Getpid())
	if err != nil || self.Start > child.Start {
		t.Errorf("Lookup(self) = %+v, %v, want a start at most that of the child, %+v", self, err, child)
	}
}

func TestAlive_OnlyWithTheSameStartTime(t *testing.T) {
	self, err := Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, reason string
		ref          Ref
		want         bool
	}{
		{"Self", "it runs", self, true},
		{"OtherStart", "a reused pid names another process", Ref{self.PID, self.Start + 1}, false},
		{"NoSuchPID", "no process has it", Ref{1 << 30, self.Start}, false},
		{"Zero", "the zero Ref names no process", Ref{}, false},
	}
	for _, tt := range tests {
		if got := tt.ref.Alive(); got != tt.want {
			t.Errorf("%s: Alive(%+v) = %v, want %v: %s", tt.name, tt.ref, got, tt.want, tt.reason)
		}
	}
}

func TestAlive_ZombieDoesNotRun(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ref, err := Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := KillAll(ref); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the killed, unreaped child counts as not alive", func() bool { return !ref.Alive() })
	if _, err := os.Stat("/proc/" + strconv.Itoa(ref.PID)); err != nil {
		t.Fatalf("child was reaped early, so this shows nothing: %v", err)
	}
	if _, err := Lookup(ref.PID); !errors.Is(err, ErrNotFound) {
		t.Errorf("Lookup(zombie) error = %v, want ErrNotFound", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("Wait = nil, want the status of a killed child")
	}
}

func TestFind_SeesEscapeesFromGroupAndSession(t *testing.T) {
	value, pids := start(t, `sleep 60 & echo $!; setsid sleep 60 & echo $!; (sleep 60 & echo $!); echo ready; wait`)
	eventually(t, fmt.Sprintf("Find returns all of %v", pids), func() bool {
		refs, err := Find(testEnv, value)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, r := range refs {
			got = append(got, r.PID)
		}
		for _, pid := range pids {
			if !slices.Contains(got, pid) {
				return false
			}
		}
		return true
	})
	other, err := Find(testEnv, value[:len(value)-1])
	if err != nil || len(other) != 0 {
		t.Errorf("Find(prefix of the value) = %v, %v, want none", other, err)
	}
}

// A process that does nothing but exec is seen by every look, even in the middle of it.
func TestMarkers_InTheMiddleOfExec(t *testing.T) {
	path := filepath.Join(t.TempDir(), "again.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	value, pids := start(t, "echo ready; exec "+path)
	for look := range 5000 {
		st, err := readStat(pids[0])
		if err != nil {
			t.Fatal(err)
		}
		values := entry{stat: st, ref: Ref{PID: pids[0], Start: st.start}}.markers(testEnv, time.Now().Add(time.Minute))
		if !slices.Equal(values, []string{value}) {
			t.Fatalf("look %d: markers = %q, want %q", look, values, value)
		}
	}
}

// One without an environment is not waited for, and neither is a kernel thread.
func TestParseStat_Environment(t *testing.T) {
	fields := make([]string, 50)
	for i := range fields {
		fields[i] = "0"
	}
	fields[0], fields[statStart] = "S", "4711"
	for _, c := range []struct {
		flags, end string
		want       stat
	}{
		{"4194304", "140723000000000", stat{start: 4711, envEnd: 140723000000000, name: "a b"}},
		{"4194304", "0", stat{start: 4711, name: "a b"}},
		{"2129984", "0", stat{start: 4711, kernel: true, name: "a b"}},
	} {
		fields[statFlags], fields[statEnvEnd] = c.flags, c.end
		if got, err := parseStat([]byte("7 (a b) " + strings.Join(fields, " ") + "\n")); err != nil || got != c.want {
			t.Errorf("parseStat with flags %s and end %s = %+v, %v, want %+v", c.flags, c.end, got, err, c.want)
		}
	}
}

func TestMarked_GroupsByValue(t *testing.T) {
	value, pids := start(t, "echo ready; exec sleep 60")
	all, err := Marked(testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := all[value]; len(got) != 1 || got[0].PID != pids[0] {
		t.Errorf("Marked(%s)[%s] = %v, want only pid %d", testEnv, value, got, pids[0])
	}
}

func TestSignal_ReusedPIDIsLeftAlone(t *testing.T) {
	_, pids := start(t, "echo ready; exec sleep 60")
	ref, err := Lookup(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	another := Ref{PID: ref.PID, Start: ref.Start - 1}
	for name, send := range map[string]func(Ref, syscall.Signal) error{"pidfd": signal, "pid": signalByPID} {
		if err := send(another, syscall.SIGKILL); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: signal with another start time error = %v, want ErrNotFound", name, err)
		}
	}
	if !ref.Alive() {
		t.Error("a process with the same pid and another start time was killed")
	}
}

func TestSignal_NeverAGroup(t *testing.T) {
	for _, pid := range []int{0, -1, -os.Getpid()} {
		if err := Signal(Ref{PID: pid}, syscall.SIGWINCH); !errors.Is(err, ErrNotFound) {
			t.Errorf("Signal(pid %d) error = %v, want ErrNotFound", pid, err)
		}
	}
}

func TestKillAll_EndedOnesAreNoError(t *testing.T) {
	value, pids := start(t, "sleep 60 & echo $!; echo ready; wait")
	refs := []Ref{{PID: 1 << 30, Start: 1}}
	for _, pid := range pids {
		ref, err := Lookup(pid)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if err := KillAll(refs...); err != nil {
		t.Fatalf("KillAll = %v, want nil", err)
	}
	eventually(t, "Find returns none after KillAll", func() bool {
		left, err := Find(testEnv, value)
		return err == nil && len(left) == 0
	})
	if err := KillAll(refs...); err != nil {
		t.Errorf("KillAll again = %v, want nil", err)
	}
}

func TestSignalByPID_WorksWithoutPidfd(t *testing.T) {
	_, pids := start(t, "echo ready; exec sleep 60")
	ref, err := Lookup(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := signalByPID(ref, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is dead", func() bool { return !ref.Alive() })
}

func TestBootID_IsStable(t *testing.T) {
	first, err := BootID()
	if err != nil || len(first) != 36 {
		t.Fatalf("BootID = %q, %v, want a UUID", first, err)
	}
	if again, err := BootID(); err != nil || again != first {
		t.Errorf("BootID again = %q, %v, want %q", again, err, first)
	}
}

func TestParseStat(t *testing.T) {
	tail := strings.Repeat(" 0", 16) + " 1 0 4711 0 0\n"
	more := strings.Replace(tail, " 1 ", " 2 ", 1)
	tests := []struct {
		name, line string
		want       int64
		err        bool
		ended      bool
	}{
		{name: "Plain", line: "7 (sh) S" + tail, want: 4711},
		{name: "NameWithParenthesesAndSpaces", line: "7 (a) Z (b c)) R" + tail, want: 4711},
		{name: "Zombie", line: "7 (sh) Z" + tail, want: 4711, ended: true},
		{name: "Dead", line: "7 (sh) X" + tail, want: 4711, ended: true},
		{name: "ZombieWithThreads", line: "7 (sh) Z" + more, want: 4711},
		{name: "DeadWithThreads", line: "7 (sh) X" + more, want: 4711},
		{name: "Empty", line: "", err: true},
		{name: "Short", line: "7 (sh) S 1 2", err: true},
		{name: "NoNumber", line: "7 (sh) S" + strings.Replace(tail, "4711", "x", 1), err: true},
	}
	for _, tt := range tests {
		got, err := parseStat([]byte(tt.line))
		if got.start != tt.want || (err != nil) != tt.err || got.ended != tt.ended {
			t.Errorf("%s: parseStat(%q) = %+v, %v, want start %d, error %v, ended %v", tt.name, tt.line, got, err, tt.want, tt.err, tt.ended)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a) Z (b c)) R" + strings.Repeat(" 0", 18) + " 4711\n"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if st, err := parseStat(line); err != nil && st != (stat{}) {
			t.Errorf("parseStat(%q) = %+v with error %v, want nothing", line, st, err)
		}
	})
}

func TestValuesOf_WholeEntriesOnly(t *testing.T) {
	environ := []byte("XA=no\x00A=1\x00B=A=2\x00AB=3\x00A=\x00A=1\x00")
	if got, want := valuesOf(environ, "A"), []string{"1", ""}; !slices.Equal(got, want) {
		t.Errorf("valuesOf = %q, want %q", got, want)
	}
}
