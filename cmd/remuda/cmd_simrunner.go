package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

const simRunnerLong = `Is the simulated runner program, as the scripts of an installed runner folder call it. Once it
has begun, its exit codes are those of the real one.`

func newSimRunnerCmd(a *app) *cobra.Command {
	return exits(&cobra.Command{
		Use:                simrunner.Subcommand + " FOLDER ARGUMENT...",
		Long:               simRunnerLong,
		Hidden:             true,
		DisableFlagParsing: true, // the flags are the runner's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("argument: must be the runner's folder")
			}
			if code := simrunner.RunnerMain(cmd.Context(), args[1:], a.environ(), args[0], a.out, a.err); code != 0 {
				return runnerStatus(code)
			}
			return nil
		},
	})
}

// runnerStatus is the exit code of the simulated runner program.
type runnerStatus int

func (s runnerStatus) Error() string { return fmt.Sprintf("runner ended with status %d", int(s)) }
