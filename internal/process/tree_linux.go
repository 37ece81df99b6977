package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// statParent is the position of the parent in /proc/<pid>/stat; see statState.
const statParent = 1

func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// table lists the processes that run, kernel threads included.
func table() ([]entry, error) {
	var all []entry
	err := eachStat(func(pid int, line []byte) {
		st, err := parseStat(line)
		if err != nil {
			return // ended
		}
		all = append(all, entry{stat: st, ref: Ref{PID: pid, Start: st.start}, parent: parentOf(line)})
	})
	return all, err
}

// parentOf returns the parent in a stat line, 0 if there is none.
func parentOf(line []byte) int {
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= statParent {
		return 0
	}
	parent, err := strconv.Atoi(string(fields[statParent]))
	if err != nil {
		return 0
	}
	return parent
}

// eachStat calls yield with the stat line of every process, zombies included.
func eachStat(yield func(pid int, line []byte)) error {
	dir, err := os.Open(procDir)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		line, err := readProc(pid, "stat")
		switch {
		case gone(err), errors.Is(err, os.ErrPermission): // what we may not read is not ours
		case err != nil:
			return fmt.Errorf("list processes: %w", err)
		default:
			yield(pid, line)
		}
	}
	return nil
}

// Reaper reads the status of adopted processes that ended, which no one else waits for. The zero
// value is ready; it must not be used by two goroutines at once.
type Reaper struct{ ended map[int]bool }

// Reap takes those children that had ended at the last call already: who waits for a child of its own
// has done so long before the next one, if calls are seconds apart.
func (r *Reaper) Reap() error {
	self := os.Getpid()
	ended := map[int]bool{}
	err := eachStat(func(pid int, line []byte) {
		if _, err := parseStat(line); errors.Is(err, ErrNotFound) && parentOf(line) == self {
			ended[pid] = true
		}
	})
	if err != nil {
		return err
	}
	for pid := range ended {
		if r.ended[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // another wait may have been quicker
			delete(ended, pid)
		}
	}
	r.ended = ended
	return nil
}
