// Package awserrors drives the built binary against an AWS account in which something is missing or not
// allowed, and judges what it says, how it ends and what it leaves behind.
package awserrors

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(program.Tests{Parallel: "4", Ready: func(built string) (func(), error) {
		binary = built
		return awstest.Stop, nil
	}}.Run(m))
}
