//go:build !linux

package agent

import "os"

const pathOnly = os.O_RDONLY
