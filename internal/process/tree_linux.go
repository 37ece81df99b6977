package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of every descendant whose own parent ended, so that
// Descendants finds what left its group, session and environment. It holds for the life of this
// process; those that it leaves behind go to the next such process above, and Descendants of a
// successor does not find them: User.Kill and User.Processes do. Who calls it must Reap.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphaned processes: %w", err)
	}
	return nil
}

// table lists the processes that run, kernel threads included.
func table() ([]entry, error) {
	var all []entry
	err := eachStat(func(pid int, line []byte) {
		st, err := parseStat(line)
		if err != nil {
			return // ended
		}
		all = append(all, entry{stat: st, ref: Ref{PID: pid, Start: st.start}})
	})
	return all, err
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
		if st, err := parseStat(line); errors.Is(err, ErrNotFound) && st.parent == self {
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
