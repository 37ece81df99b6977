//go:build unix

package simrunner_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// TestMain lets this test binary stand for the program behind the installed scripts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == simrunner.Subcommand {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		code := simrunner.RunnerMain(ctx, os.Args[3:], os.Environ(), os.Args[2], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}
