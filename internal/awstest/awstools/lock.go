package awstools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sys/unix"
)

// lockPoll is the time between two attempts at a lock that someone else holds while installing, which
// takes seconds.
const lockPoll = 200 * time.Millisecond

// lock takes the lock of a file, waiting until ctx ends. The kernel frees it when its holder dies.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	try := func() error {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return backoff.Permanent(err)
		}
		return err
	}
	if err := backoff.Retry(try, backoff.WithContext(backoff.NewConstantBackOff(lockPoll), ctx)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil // which frees the lock
}
