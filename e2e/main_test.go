// Package e2e drives the built binary from outside, as its users do.
package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestScripts and TestScripts_Long run every script of the folder, so that none can be missed. See scripts/README.md for
// their commands.
func TestScripts(t *testing.T) {
	scripts(t, false)
}

func TestScripts_Long(t *testing.T) {
	program.Long(t, "scripts that wait for long")
	scripts(t, true)
}

func scripts(t *testing.T, long bool) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("scripts", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: slices.DeleteFunc(files, func(file string) bool {
			return slices.Contains(longScripts, strings.TrimSuffix(filepath.Base(file), ".txtar")) != long
		}),
		Cmds:                commands,
		Setup:               setup,
		RequireExplicitExec: true,
	})
}
