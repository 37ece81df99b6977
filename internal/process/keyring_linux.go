package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// keyrings of a user that outlive its processes (user-keyring(7), user-session-keyring(7)). The third,
// persistent-keyring(7), is asked for.
var keyrings = []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING}

// ClearKeyrings removes the keys that the user's processes left for those after them. It is called when they have
// ended. Keyrings of their sessions end with them: see Start.
func (u User) ClearKeyrings() error {
	err := u.do(func() error {
		all := keyrings
		switch persistent, err := unix.KeyctlInt(unix.KEYCTL_GET_PERSISTENT, -1, unix.KEY_SPEC_THREAD_KEYRING, 0, 0); {
		case err == nil:
			all = append(all[:len(all):len(all)], persistent, unix.KEY_SPEC_THREAD_KEYRING) // where the answer is kept
		case !errors.Is(err, unix.EOPNOTSUPP) && !withoutKeys(err):
			return fmt.Errorf("persistent keyring: %w", err)
		}
		for _, ring := range all {
			if _, err := unix.KeyctlInt(unix.KEYCTL_CLEAR, ring, 0, 0, 0); err != nil && !withoutKeys(err) {
				return fmt.Errorf("keyring %d: %w", ring, err)
			}
		}
		// As the kernel makes them: one without a session's own finds the user's keys by it.
		_, err := unix.KeyctlInt(unix.KEYCTL_LINK, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING, 0, 0)
		if withoutKeys(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("clear keyrings of user %d: %w", u.UID, err)
	}
	return nil
}

// withoutKeys reports whether there are none: in the kernel, or for this process and so for all that it starts
// (a container's filter of system calls answers EPERM, keyctl(2) itself EACCES).
func withoutKeys(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }
