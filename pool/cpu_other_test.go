//go:build !linux

package pool_test

import "time"

var began = time.Now()

// cpuNow returns the time that has passed: the best that is to be had here.
func cpuNow() time.Duration { return time.Since(began) }
