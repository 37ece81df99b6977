package githubsim

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// monitor is the one lock of a Hub and its parts, and what is waited for there: a change or a deadline. Who calls a
// method of jobs, registry, sessions or dispatcher holds it, but for view and act of the last.
type monitor struct {
	clock clock.WithTicker

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	next    time.Time     // no deadline of any kind passes before; zero: none
}

// with runs f under the lock with one reading of the clock.
func (m *monitor) with(f func(now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.clock.Now())
}

// change is with for what others may wait for.
func (m *monitor) change(f func(now time.Time)) {
	m.with(func(now time.Time) {
		f(now)
		m.broadcast()
	})
}

// broadcast wakes everyone who waits for a change. The caller holds the lock.
func (m *monitor) broadcast() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// dueBy notes that something may be due at the given instant (zero: nothing). The caller holds the lock.
func (m *monitor) dueBy(at time.Time) {
	if !at.IsZero() && (m.next.IsZero() || at.Before(m.next)) {
		m.next = at
	}
}

// passed reports whether a deadline has passed, and then forgets all of them. The caller holds the lock.
func (m *monitor) passed(now time.Time) bool {
	if m.next.IsZero() || now.Before(m.next) {
		return false
	}
	m.next = time.Time{}
	return true
}

// pause waits for a change, for the instant next (zero: never), or for ctx.
func (m *monitor) pause(ctx context.Context, changed <-chan struct{}, next, now time.Time) error {
	var due <-chan time.Time
	if !next.IsZero() {
		t := m.clock.NewTimer(max(next.Sub(now), time.Millisecond))
		defer t.Stop()
		due = t.C()
	}
	select {
	case <-changed:
	case <-due:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
