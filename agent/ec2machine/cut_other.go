//go:build !linux

package ec2machine

import "errors"

// cutPower is not known here.
var cutPower = func() error { return errors.ErrUnsupported }
