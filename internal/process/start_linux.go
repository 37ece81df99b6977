package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Start starts cmd without what this process has for itself: with a new session keyring, since whoever inherits
// ours may write into it (session-keyring(7)), and with the score of an ordinary process when memory runs out
// (proc_pid_oom_score_adj(5)).
func Start(cmd *exec.Cmd) error {
	return onThread(func() (same bool, err error) {
		_, err = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		if err != nil && !withoutKeys(err) {
			return true, fmt.Errorf("join a session keyring: %w", err)
		}
		return err != nil, unprotected(cmd)
	})
}

// scoreFile is this process's; a process inherits its parent's score.
const scoreFile = "/proc/self/oom_score_adj"

var scoreLock sync.Mutex

// unprotected starts cmd while this process has no protection, so that no child of cmd is ever born with it. Written
// by who may, the score is also the least that the process can give itself again, for a child too.
func unprotected(cmd *exec.Cmd) error {
	scoreLock.Lock()
	defer scoreLock.Unlock()
	was, err := os.ReadFile(scoreFile)
	if err != nil {
		return err
	}
	score, err := strconv.Atoi(string(bytes.TrimSpace(was)))
	if err != nil {
		return fmt.Errorf("malformed %s: %w", scoreFile, err)
	}
	if score >= 0 {
		return cmd.Start()
	}
	if err := os.WriteFile(scoreFile, []byte("0"), 0); err != nil {
		return err
	}
	err = cmd.Start()
	if back := os.WriteFile(scoreFile, was, 0); back != nil {
		if err == nil {
			err = errors.Join(cmd.Process.Kill(), cmd.Wait())
		}
		return errors.Join(err, back)
	}
	return err
}
