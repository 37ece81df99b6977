//go:build unix && !linux

package boundary

import (
	"context"
	"errors"
	"fmt"

	"github.com/remuda-run/remuda/internal/process"
)

// InitCommand is a command that only Linux has.
const InitCommand = "agent-init"

// Init returns errors.ErrUnsupported.
func Init(string, []string) error { return fmt.Errorf("PID namespace: %w", errors.ErrUnsupported) }

func openGroup(string) (Boundary, error) { return nil, fmt.Errorf("%w", errors.ErrUnsupported) }

func openNamespace(string) (Boundary, error) { return nil, fmt.Errorf("%w", errors.ErrUnsupported) }

// EndUser has nothing to end: no instance runs on such a computer.
func EndUser(context.Context, int) error { return nil }

// EndContainers has nothing to end, either.
func EndContainers(context.Context, []string) error { return nil }

// Freezes returns false.
func Freezes([]process.Ref, error) bool { return false }

// Freeze freezes nothing.
func Freeze(context.Context, string) error { return nil }

// Thaw does nothing.
func Thaw(string) error { return nil }

// Sweep has nothing to end: no instance runs on such a computer.
func Sweep(string, string) (bool, error) { return true, nil }
