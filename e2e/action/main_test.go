// Package action drives the built action, step by step as GitHub's runner does, against an installation
// of the built binary: store and pool on stand-ins for AWS, machines that are processes, and a simulated
// GitHub that has the last word on which job ran where. The same on EC2 is in e2e/aws.
package action

import (
	"os"
	"os/signal"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) {
		// As in the background of a script. A step would inherit it, and miss a cancellation until node sets its own
		// handlers; one that the tests catch begins with the default.
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	os.Exit(program.Tests{Parallel: "4", Ready: func(built string) (func(), error) {
		binary = built
		return awstest.Stop, nil
	}}.Run(m))
}
