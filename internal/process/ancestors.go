//go:build unix

package process

import (
	"fmt"
	"path/filepath"
)

// Ancestor is a process above another one.
type Ancestor struct {
	Ref
	Name string // last part of the name it was started under
}

// Ancestors returns the processes above pid, its parent first.
func Ancestors(pid int) ([]Ancestor, error) {
	st, err := readStat(pid)
	if err != nil {
		return nil, fmt.Errorf("find parent of process %d: %w", pid, err)
	}
	var above []Ancestor
	seen := map[int]bool{pid: true} // a pid that was reused during the look must not make a circle
	for st.parent > 0 && !seen[st.parent] {
		pid = st.parent
		seen[pid] = true
		if st, err = readStat(pid); err != nil {
			return above, fmt.Errorf("read start time of process %d: %w", pid, err)
		}
		name, err := commandOf(pid)
		if err != nil {
			return above, fmt.Errorf("find name of process %d: %w", pid, err)
		}
		above = append(above, Ancestor{Ref: Ref{PID: pid, Start: st.start}, Name: filepath.Base(name)})
	}
	return above, nil
}
