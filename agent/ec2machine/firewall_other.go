//go:build !linux

package ec2machine

import (
	"context"
	"errors"
)

// TryAs is a Firewall.Try where there is none: EC2 instances run Linux.
func TryAs(context.Context, int, string) error { return errors.ErrUnsupported }
