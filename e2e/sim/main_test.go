// Seeding math/rand has an effect again: the retries of a library draw from it.
//
//go:debug randseednop=0
package sim_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

// One goroutine at a time: which of two that may run does so first is then no chance.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(1000) // worlds are small and make much garbage
	os.Exit(m.Run())
}

// sound judges that a story broke no law.
func sound(t *testing.T, what string, r sim.Report) {
	t.Helper()
	for _, v := range r.Violations {
		t.Errorf("%s: %s", what, v)
	}
}

// check ends the test on an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
