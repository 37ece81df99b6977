// Package page looks at the live page of the built binary through a browser, as people do.
package page

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Tests{}.Run(m)) }
