// Package contain plays what a hostile job does to outlive its run, on the built binary: a machine that served
// it is as it was, or is terminated, before another run gets it.
//
// Jobs run on a process fleet of one machine, as a user of their own, at level full. What a shell cannot do,
// this test program does when a job starts it: see helper_test.go. No C compiler is needed.
package contain

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(helpEnv); what != "" { // a job's program
		os.Exit(help(what))
	}
	os.Exit(program.Tests{}.Run(m))
}
