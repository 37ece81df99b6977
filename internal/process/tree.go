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

// Descendants returns the processes that descend from pid, without pid, in no order. One may fork
// while we look; see the package comment.
func Descendants(pid int) ([]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	children := map[int][]entry{}
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
	}
	var found []Ref
	seen := map[int]bool{pid: true} // a pid that was reused during the look must not make a circle
	for next := []int{pid}; len(next) > 0; {
		at := next[0]
		next = next[1:]
		for _, e := range children[at] {
			if !seen[e.ref.PID] {
				seen[e.ref.PID] = true
				found, next = append(found, e.ref), append(next, e.ref.PID)
			}
		}
	}
	return found, nil
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
	ref    Ref
	parent int
	kernel bool // a kernel thread
}
