package agenttest

import (
	"context"
	"sync"
)

// Machine is an agent.Machine that only remembers.
type Machine struct {
	// HaltFunc and ScrubFunc, if set, decide what the calls return. They may block.
	HaltFunc  func(ctx context.Context, reason string) error
	ScrubFunc func(ctx context.Context) error

	mu          sync.Mutex
	halts       []string
	scrubs      int
	interrupted bool
}

// Halt remembers the reason.
func (m *Machine) Halt(ctx context.Context, reason string) error {
	m.mu.Lock()
	m.halts = append(m.halts, reason)
	m.mu.Unlock()
	if m.HaltFunc != nil {
		return m.HaltFunc(ctx, reason)
	}
	return nil
}

// Scrub counts.
func (m *Machine) Scrub(ctx context.Context, _ string) error {
	m.mu.Lock()
	m.scrubs++
	m.mu.Unlock()
	if m.ScrubFunc != nil {
		return m.ScrubFunc(ctx)
	}
	return nil
}

// Interrupted reports whether Interrupt was called.
func (m *Machine) Interrupted(context.Context) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.interrupted
}

// Interrupt gives notice.
func (m *Machine) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.interrupted = true
}

// Halts returns the reasons of the calls of Halt so far.
func (m *Machine) Halts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.halts...)
}

// Scrubs returns how often Scrub was called.
func (m *Machine) Scrubs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scrubs
}
