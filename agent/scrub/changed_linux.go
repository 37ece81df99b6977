package scrub

import "syscall"

// changedAt is when a file's content, owner, mode or name last changed, in nanoseconds.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
