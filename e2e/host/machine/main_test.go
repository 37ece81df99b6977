//go:build linux

// Package machine lets instances of EC2, as a launch template makes them, boot as real machines: a Debian with systemd, nft and a
// container engine runs the user data, fetches the program, starts the unit and serves runs. AWS and GitHub are the stand-ins of
// the other tests.
//
// What systemd, nft and the engine do for the product, and what of a job they would keep, is shown here and nowhere else;
// everything else is shown faster by e2e/aws.
package machine

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) {
	os.Exit(hosttest.Main(m, program.Tests{Parallel: "4", Flags: []string{"-ldflags=-s -w"}, Stop: awstest.Stop}))
}
