//go:build !linux

package host

// slim does nothing here: no agent runs on such a machine.
func slim() error { return nil }
