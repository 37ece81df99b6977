// Package action drives the built action, step by step as GitHub's runner does, against an installation
// of the built binary: store and pool on stand-ins for AWS, machines that are processes, and a simulated
// GitHub that has the last word on which job ran where. The same on EC2 is in e2e/aws.
package action

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) {
	os.Exit(program.Tests{Parallel: "4", Stop: awstest.Stop}.Run(m))
}
