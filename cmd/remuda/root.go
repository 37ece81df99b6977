package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// verbs lists the constructor of every verb.
var verbs = []func(*app) *cobra.Command{
	newRequestCmd, newReleaseCmd, newStatusCmd, newExplainCmd, newLogsCmd, newDrainCmd, newAuditCmd, newHealthCmd,
	newInitCmd, newFSMCmd, newConfigCmd, newVersionCmd,
	newControllerCmd, newDevCmd, newAgentCmd, newAgentHookCmd, newSimRunnerCmd,
}

const rootLong = `remuda keeps a herd of warm, self-hosted GitHub Actions runners: a workflow run asks for
N runners, gets idle ones in seconds or new ones in half a minute, and gives them back
for the next run.

Settings come from flags, REMUDA_* environment variables and a YAML file, in this order;
"remuda config" shows each with its origin.`

// newRootCmd returns the command tree.
func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "remuda",
		Short:         "Warm self-hosted runners for GitHub Actions",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("command %q: must be one of %s", args[0], strings.Join(verbNames(cmd), ", "))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return asUsage(err) })
	a.global.register(root.PersistentFlags())
	for _, newCmd := range verbs {
		root.AddCommand(newCmd(a))
	}
	return exits(root)
}

func verbNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, a *app, args []string) int {
	root := newRootCmd(a)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if status := runnerStatus(0); errors.As(err, &status) {
		return int(status) // it has said all itself
	}
	code := exitCode(err)
	fmt.Fprintf(a.err, "remuda: %s\n", strings.ReplaceAll(printable(err.Error()), "\n", "\nremuda: "))
	if code == exitUsage && errors.Is(err, errUsage) {
		fmt.Fprintf(a.err, "See '%s --help'.\n", cmd.CommandPath())
	}
	return code
}

// noArgs and atMostOneArg are the argument checks of verbs, as usage errors.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("argument %q: this command takes none", args[0])
	}
	return nil
}

func atMostOneArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("argument %q: at most one is allowed, got %d", args[1], len(args))
	}
	return nil
}

// completes makes the shell complete the values of a flag.
func completes(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("completion: " + err.Error()) // the flag does not exist; every test builds the tree
	}
}

// completesClass makes the shell complete the names of the configured resource classes.
func completesClass(a *app, cmd *cobra.Command, flag string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.loadConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(cfg.Classes)), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("completion: " + err.Error()) // as in completes
	}
}
