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
	var above []Ancestor
	seen := map[int]bool{pid: true} // a pid that was reused during the look must not make a circle
	for {
		parent, err := parentAt(pid)
		if err != nil {
			return above, fmt.Errorf("find parent of process %d: %w", pid, err)
		}
		if parent <= 0 || seen[parent] {
			return above, nil
		}
		seen[parent] = true
		ref, err := Lookup(parent)
		if err != nil {
			return above, err
		}
		name, err := commandAt(parent)
		if err != nil {
			return above, fmt.Errorf("find name of process %d: %w", parent, err)
		}
		above = append(above, Ancestor{Ref: ref, Name: filepath.Base(name)})
		pid = parent
	}
}
