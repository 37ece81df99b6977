package ec2machine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// refusals are what a connection fails with if the machine itself refused it at once; a silence proves nothing.
var refusals = []error{
	unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EACCES, unix.EPERM, unix.EADDRNOTAVAIL, unix.EAFNOSUPPORT,
}

// TryAs is a Firewall.Try: it connects to the metadata service at address by a socket of a user. The owner of a
// socket is the file-system user of who makes it (Linux, net/netfilter/xt_owner.c), so that no program needs
// to run as that user.
func TryAs(_ context.Context, uid int, address string) error {
	at, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("reach %s: %w", address, err)
	}
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: metadataPort, Addr: at.As16()})
	if at.Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: metadataPort, Addr: at.As4()}
	}
	socket, err := socketOf(uid, family)
	if err == nil {
		limit := unix.NsecToTimeval(int64(tryLimit / 2)) // of connect, too (socket(7))
		if err = unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err == nil {
			err = unix.Connect(socket, to)
		}
		_ = unix.Close(socket) // nothing was sent
	}
	if err == nil {
		return nil
	}
	if slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) }) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("reach %s: %w", address, err)
}

// socketOf makes a socket that a user owns. A thread that cannot be itself again ends with its goroutine.
func socketOf(uid, family int) (fd int, err error) {
	var thread sync.WaitGroup
	thread.Go(func() {
		runtime.LockOSThread()
		if err = become(uid); err != nil {
			return
		}
		fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if back := become(os.Geteuid()); back != nil {
			err = errors.Join(err, back)
			return
		}
		runtime.UnlockOSThread()
	})
	thread.Wait()
	return fd, err
}

// become changes the file-system user of this thread.
func become(uid int) error {
	if _, err := unix.SetfsuidRetUid(uid); err != nil {
		return fmt.Errorf("act as user %d: %w", uid, err)
	}
	if now, err := unix.SetfsuidRetUid(-1); err != nil || now != uid { // only asks (setfsuid(2))
		return fmt.Errorf("act as user %d: still user %d: %w", uid, now, errors.Join(err, unix.EPERM))
	}
	return nil
}
