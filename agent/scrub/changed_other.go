//go:build unix && !linux

package scrub

import "syscall"

// changedAt is when a file's content last changed, in nanoseconds: machines run Linux.
func changedAt(st *syscall.Stat_t) int64 { return st.Mtimespec.Nano() }
