//go:build unix && !linux

package process

import (
	"errors"
	"fmt"
	"os/exec"
)

func (User) runs(int) bool { return false }

func loginOf(int) int { return -1 }

// Kill returns errors.ErrUnsupported.
func (u User) Kill() error { return u.unsupported("kill processes") }

// RemoveIPC returns errors.ErrUnsupported.
func (u User) RemoveIPC() error { return u.unsupported("remove objects in the kernel") }

// ClearKeyrings does nothing: only Linux has keyrings.
func (User) ClearKeyrings() error { return nil }

func (u User) unsupported(what string) error {
	return fmt.Errorf("%s of user %d: %w", what, u.UID, errors.ErrUnsupported)
}

// Start starts cmd.
func Start(cmd *exec.Cmd, view ...func() error) error {
	for _, enter := range view {
		if err := enter(); err != nil {
			return err
		}
	}
	return cmd.Start()
}

// Bind returns a function that returns errors.ErrUnsupported.
func Bind(_, _ string) func() error { return func() error { return errors.ErrUnsupported } }

// CanBind returns errors.ErrUnsupported.
func CanBind(_, _ string) error { return errors.ErrUnsupported }

// Wait waits for what Start has started.
func Wait(cmd *exec.Cmd) error { return cmd.Wait() }

// Collected does nothing where no process is adopted.
func Collected(int) {}
