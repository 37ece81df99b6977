// Package app makes a GitHub App with the built binary and a browser, as people do.
package app

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Tests{}.Run(m)) }
