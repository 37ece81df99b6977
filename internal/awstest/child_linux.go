package awstest

import "syscall"

// dieWithParent makes the kernel end the child when this process ends in whatever way.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
