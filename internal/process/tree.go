//go:build unix

package process

import "fmt"

// AdoptOrphans makes this process the parent of every descendant whose own parent ended, so that
// Descendants finds what left its group, session and environment. It holds for the life of this
// process; those that it leaves behind go to the next such process above, and Descendants of a
// successor does not find them: User.Kill and User.Processes do. Who calls it must Reap.
func AdoptOrphans() error {
	if err := adoptOrphans(); err != nil {
		return fmt.Errorf("adopt orphaned processes: %w", err)
	}
	return nil
}

// Children returns the processes whose parent is pid, in no order.
func Children(pid int) ([]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	var found []Ref
	for _, e := range all {
		if e.parent == pid {
			found = append(found, e.ref)
		}
	}
	return found, nil
}

// entry is one process that runs.
type entry struct {
	stat
	ref    Ref
	parent int
}
