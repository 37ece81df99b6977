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

// Start starts cmd without what this process has for itself: with a new session keyring, since any process that inherits
// ours may write into it (session-keyring(7)), and with the score of an ordinary process when memory runs out
// (proc_pid_oom_score_adj(5)). What becomes another user may not change files behind the back of who looks for that.
func Start(cmd *exec.Cmd) error {
	err := onThread(func() (same bool, err error) {
		_, err = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		if err != nil && !withoutKeys(err) {
			return true, fmt.Errorf("join a session keyring: %w", err)
		}
		same = err != nil
		if cmd.SysProcAttr != nil && cmd.SysProcAttr.Credential != nil {
			if same, err = false, keepContent(); err != nil {
				return false, err
			}
		}
		return same, unprotected(scoreFile, cmd.Start)
	})
	if err != nil && cmd.Process != nil { // our own score could not be restored
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

// scoreFile is this process's; a process inherits its parent's score.
const scoreFile = "/proc/self/oom_score_adj"

var scoreLock sync.Mutex

// unprotected calls start while this process has no protection, so that no child of what it starts is ever born with
// it. Written by who may, the score is also the least that the process can give itself again, and a child too.
func unprotected(file string, start func() error) error {
	scoreLock.Lock()
	defer scoreLock.Unlock()
	was, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	score, err := strconv.Atoi(string(bytes.TrimSpace(was)))
	if err != nil {
		return fmt.Errorf("malformed %s: %w", file, err)
	}
	if score >= 0 {
		return start()
	}
	if err := os.WriteFile(file, []byte("0"), 0); err != nil {
		return err
	}
	return errors.Join(start(), os.WriteFile(file, was, 0))
}
