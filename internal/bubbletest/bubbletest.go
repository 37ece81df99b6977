// Package bubbletest runs tests in bubbles of testing/synctest, safely under the race detector.
package bubbletest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Run is synctest.Test. Under the race detector the process has one processor for as long as any
// bubble lasts.
//
// Timers of a bubble share one race context, also those that a receive or a select fires itself
// (runtime/time.go of Go 1.26, unlockAndRun with bubble.timers.raceCtx). Two processors in it at once
// damage its shadow stack, and the process dies of SIGSEGV inside the detector
// (compare https://go.dev/issue/78156). The detector orders by what happens before what, not by who ran
// beside whom, so it sees the same races on one processor.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if raceDetector {
		bubbles.enter()
		defer bubbles.leave()
	}
	synctest.Test(t, f) //nolint:forbidigo // the one place
}

// Case is Run as a subtest.
func Case(f func(t *testing.T)) func(*testing.T) { return func(t *testing.T) { Run(t, f) } }

var bubbles processors

// processors counts the bubbles of the process, and gives it one processor while there are any.
type processors struct {
	mu      sync.Mutex
	bubbles int
	before  int // what the process had before the first bubble
}

func (p *processors) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bubbles++; p.bubbles == 1 {
		p.before = runtime.GOMAXPROCS(1)
	}
}

func (p *processors) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bubbles--; p.bubbles == 0 {
		runtime.GOMAXPROCS(p.before)
	}
}
