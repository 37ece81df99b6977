package ec2machine

import "time"

// SetCommandLimit changes how long one command may take, and returns what changes it back.
func SetCommandLimit(limit time.Duration) (restore func()) {
	was := commandLimit
	commandLimit = limit
	return func() { commandLimit = was }
}
