//go:build unix && !linux

package awstest

import "syscall"

// dieWithParent does nothing where no kernel offers it: a test binary that panics leaves its services
// behind.
func dieWithParent(*syscall.SysProcAttr) {}
