package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const procDir = "/proc"

// Positions in /proc/<pid>/stat, counted from the field after the name (proc_pid_stat(5): state is
// field 3, ppid field 4, flags field 9, num_threads field 20, starttime field 22, env_end field 51).
const (
	statState   = 0
	statParent  = 1
	statFlags   = 6
	statThreads = 17
	statStart   = 19
	statEnvEnd  = 48
)

// kernelThread is PF_KTHREAD of the kernel's include/linux/sched.h.
const kernelThread = 0x00200000

func readStat(pid int) (stat, error) {
	b, err := readProc(pid, "stat")
	if gone(err) {
		return stat{}, ErrNotFound
	}
	if err != nil {
		return stat{}, err
	}
	st, err := parseStat(b)
	if err == nil && st.ended {
		return stat{}, ErrNotFound
	}
	return st, err
}

// readProc reads a file of a process, as os.ReadFile does but without asking the runtime's poller to watch it: a
// look reads some hundred of them, and a release waits for several.
func readProc(pid int, file string) ([]byte, error) {
	path := filepath.Join(procDir, strconv.Itoa(pid), file)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 0, procSize)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = slices.Grow(text, procSize)
		}
	}
}

// procSize is more than stat and status have.
const procSize = 2048

// BootID names the present boot, by what random(4) documents as a value that is made once per boot. A start time that
// is kept on disk means nothing after another boot, so who keeps one keeps the boot with it. It is empty where start
// times are wall times.
func BootID() (string, error) {
	b, err := os.ReadFile(filepath.Join(procDir, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return string(bytes.TrimSpace(b)), nil
}

// parseStat reads one line of /proc/<pid>/stat. The name in it may hold spaces and parentheses, so
// the fields are counted from the last one that closes.
func parseStat(line []byte) (stat, error) {
	end := bytes.LastIndexByte(line, ')')
	_, name, _ := bytes.Cut(line[:max(end, 0)], []byte("("))
	fields := bytes.Fields(line[end+1:])
	if len(fields) <= statStart {
		return stat{}, fmt.Errorf("malformed stat line %q", line)
	}
	var numbers [statEnvEnd + 1]int64
	for _, at := range []int{statParent, statFlags, statThreads, statStart, statEnvEnd} {
		if at == statEnvEnd && len(fields) <= at {
			break // an old kernel
		}
		var err error
		if numbers[at], err = strconv.ParseInt(string(fields[at]), 10, 64); err != nil {
			return stat{}, fmt.Errorf("malformed number %d in stat line %q", at, line)
		}
	}
	ended := bytes.ContainsAny(fields[statState], "ZX") // the main thread at least
	alone := numbers[statThreads] <= 1
	return stat{
		start: numbers[statStart], parent: int(numbers[statParent]), headless: ended && !alone, ended: ended && alone,
		kernel: numbers[statFlags]&kernelThread != 0, envEnd: numbers[statEnvEnd], name: string(name),
	}, nil
}

// execPatience bounds how long one pass waits for processes in the middle of exec, all together: they
// take well below a millisecond there, but on a busy machine they may have to wait for their turn,
// some 100 ms with many others in line. execPause leaves them a core to do it on.
const (
	execPatience = time.Second
	execPause    = 100 * time.Microsecond
)

// patience is when a pass that begins now stops to wait.
func patience() time.Time { return time.Now().Add(execPatience) } //nolint:forbidigo // exec takes real time

// commandOf returns the first word of a process's command line, "" if it has none.
func commandOf(pid int) (string, error) {
	line, err := readProc(pid, "cmdline")
	name, _, _ := bytes.Cut(line, []byte{0})
	return string(name), err
}

// markers returns the values of env in the environment of a process. The start time is read on both sides
// of the environment, so that the pair belongs to one process. What we may not read is not ours. No look
// follows one that ended after patience.
//
// In the middle of exec a process shows no environment: the kernel gives it a new memory first and
// writes the environment there later; a long one that is being read ends early. So one without env is
// believed only if its place in memory is the same before and after, and known. A process without its main
// thread is in no exec: the thread that calls it would take that one's place.
func (e entry) markers(env string, patience time.Time) []string {
	if e.kernel {
		return nil
	}
	for before := e.stat; ; {
		b, err := environ(e.ref.PID, before.headless)
		if err != nil {
			return nil
		}
		after, err := readStat(e.ref.PID)
		if err != nil || after.start != before.start {
			return nil
		}
		if values := valuesOf(b, env); len(values) > 0 {
			return values
		}
		settled := after.envEnd == before.envEnd && (after.envEnd != 0 || before.headless && after.headless)
		if settled || time.Now().After(patience) { //nolint:forbidigo // exec takes real time
			return nil
		}
		before = after
		time.Sleep(execPause) //nolint:forbidigo // exec takes real time
	}
}

// environ reads the initial environment of a process, which /proc shows by any thread that runs.
func environ(pid int, headless bool) ([]byte, error) {
	if !headless {
		return readProc(pid, "environ")
	}
	threads, err := os.ReadDir(filepath.Join(procDir, strconv.Itoa(pid), "task"))
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		if b, err := readProc(pid, filepath.Join("task", t.Name(), "environ")); err == nil && len(b) > 0 {
			return b, nil
		}
	}
	return nil, nil // nothing is known of it, as of one without an environment
}

// valuesOf returns the values that environ, entries ended by NUL, gives to env; each once.
func valuesOf(environ []byte, env string) []string {
	var values []string
	prefix := []byte(env + "=")
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		v, ok := bytes.CutPrefix(entry, prefix)
		if ok && !slices.Contains(values, string(v)) {
			values = append(values, string(v))
		}
	}
	return values
}

// signal goes through a pidfd where the kernel has them (5.3): once open it names one process, so
// that the check and the signal cannot meet two.
func signal(r Ref, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(r.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return ErrNotFound
	case err != nil: // ENOSYS, or forbidden by a sandbox
		return signalByPID(r, sig)
	}
	defer unix.Close(fd)
	if !r.Alive() {
		return ErrNotFound
	}
	err = unix.PidfdSendSignal(fd, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrNotFound
	}
	return err
}

// gone reports whether reading under /proc/<pid> failed because the process ended: the folder was
// not there, or vanished between open and read.
func gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
