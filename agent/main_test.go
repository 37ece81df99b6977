package agent

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"
)

// TestMain lets this test binary stand for the program behind the job-started hook.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == HookCommand && os.Args[3] == "--dir" {
		if GuardJob(os.Args[4], os.Environ(), clock.RealClock{}) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
