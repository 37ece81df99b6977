//go:build unix

package process

// Children returns the processes that run and whose parent is pid, in no order.
func Children(pid int) ([]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	var found []Ref
	for _, e := range all {
		if e.parent == pid && !e.ended {
			found = append(found, e.ref)
		}
	}
	return found, nil
}

// entry is one process.
type entry struct {
	stat
	ref Ref
}
