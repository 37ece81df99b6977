// Package e2e drives the built binary from outside, as its users do.
package e2e

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/remuda-run/remuda/e2e/program"
)

// settingEnvs are the variables that stand for its settings.
var settingEnvs []string

func TestMain(m *testing.M) {
	if os.Getenv(helpEnv) != "" { // a job's program: see TestJobHelper
		os.Exit(m.Run())
	}
	os.Exit(program.Tests{Parallel: "12", Ready: prepare}.Run(m))
}

// prepare asks the program for its settings.
func prepare() error {
	config, err := program.JSON[struct {
		Settings []struct{ Env string }
	}](program.Run(context.Background(), "", nil, "config", "-o", "json"))
	for _, s := range config.Settings {
		settingEnvs = append(settingEnvs, s.Env)
	}
	return err
}

// TestScripts runs every script of the folder, so that none can be missed. See scripts/README.md for
// their commands.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "scripts",
		Cmds:                commands,
		Setup:               setup,
		RequireExplicitExec: true,
	})
}
