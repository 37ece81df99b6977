package sim

import "strings"

// isDown reports whether the contract of a site is out of order.
func (w *World) isDown(s Site) bool {
	contract, _, _ := strings.Cut(s.Method, ".")
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down[contract] > 0
}

// anyDown reports whether any contract is out of order.
func (w *World) anyDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, outages := range w.down {
		if outages > 0 {
			return true
		}
	}
	return false
}
