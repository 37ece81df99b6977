//go:build unix

package simrunner_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// TestMain lets this test binary stand for the program behind the installed scripts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == simrunner.Subcommand {
		os.Exit(simrunner.RunnerMain(context.Background(), os.Args[3:], os.Environ(), os.Args[2], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}
