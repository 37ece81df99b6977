package reconciler_test

import "testing"

// takesLong leaves a story out of a run with -short: under the race detector a process has one processor
// (package bubbletest), on which it takes more than some seconds.
func takesLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("lives through much on one processor: make check runs it")
	}
}
