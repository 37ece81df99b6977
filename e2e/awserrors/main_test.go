// Package awserrors drives the built binary against an AWS account in which something is missing or not
// allowed, and judges what it says, how it ends and what it leaves behind.
package awserrors

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) {
	os.Exit(program.Tests{Parallel: "4", Stop: awstest.Stop}.Run(m))
}
