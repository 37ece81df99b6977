package pool_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuNow returns the CPU time of the calling thread: what others do on the machine does not count.
func cpuNow() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
