package ports

import (
	"testing"

	"golang.org/x/sys/unix"
)

// H42: a kernel that does not know a protocol is not taken for one on which nothing listens.
func TestAnswered_ProtocolUnknownToTheKernel_H42(t *testing.T) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		t.Skipf("a kernel without sock_diag: %v", err)
	}
	defer unix.Close(fd)
	if err := ask(fd, unix.AF_INET, 254); err != nil { // of RFC 3692, for experiments
		t.Fatal(err)
	}
	if found, err := answered(fd, nil); err == nil {
		t.Errorf("answered = %v, want an error", found)
	}
}
