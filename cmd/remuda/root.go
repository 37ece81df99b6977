package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// verbs lists the constructor of every verb.
var verbs = []func(*app) *cobra.Command{
	newRequestCmd, newReleaseCmd, newStatusCmd, newExplainCmd, newCostsCmd, newAdviseCmd, newLogsCmd, newConsoleCmd, newDrainCmd, newAuditCmd, newDoctorCmd, newHealthCmd,
	newStackCmd, newInitCmd, newUninstallCmd, newImageCmd, newFSMCmd, newConfigCmd, newVersionCmd,
	newControllerCmd, newDevCmd, newAgentCmd, newAgentHookCmd, newAgentInitCmd, newSimRunnerCmd,
}

const rootLong = `remuda keeps a herd of warm, self-hosted GitHub Actions runners: a workflow run asks for
N runners, gets idle ones in seconds or new ones in half a minute, and gives them back
for the next run.

Settings come from flags, REMUDA_* environment variables and a YAML file, in this order;
"remuda config" shows each with its origin.`

// newRootCmd returns the command tree.
func newRootCmd(a *app) *cobra.Command {
	var version bool
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
			return unknownVerb(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintln(a.out, currentVersion())
				return err
			}
			return cmd.Help()
		},
	}
	// cobra's own flag writes this line by a template only, which would more than double the binary (see internal/repocheck).
	root.Flags().BoolVarP(&version, "version", "v", false, "version for remuda")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return asUsage(err) })
	a.global.register(root.PersistentFlags())
	completesWith(root, "set", settingKeys)
	for _, newCmd := range verbs {
		root.AddCommand(newCmd(a))
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		for _, own := range append(c.Commands(), c) {
			if !strings.Contains(own.Long, exitsHeading) { // cobra's
				exits(own)
			}
		}
		switch run := c.Run; c.Name() {
		case "help": // cobra answers what it does not know with the root's help, and success
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				if of, rest, _ := root.Find(args); len(rest) > 0 {
					return unknownVerb(of, rest[0])
				}
				run(c, args)
				return nil
			}
		case "completion":
			c.Args, c.RunE = noArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	return exits(root)
}

// unknownVerb says what a verb of cmd may have been meant to be, or which there are.
func unknownVerb(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2 // cobra's own default, set only where cobra itself complains
	if meant := cmd.SuggestionsFor(name); len(meant) > 0 {
		return usagef("command %q: did you mean %s?", name, strings.Join(meant, " or "))
	}
	return usagef("command %q: must be one of %s", name, strings.Join(verbNames(cmd), ", "))
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
	out := &counted{Writer: a.out}
	defer func(was io.Writer) { a.out = was }(a.out)
	a.out = out
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
	if f := cmd.Flags().Lookup("output"); f != nil && f.Value.String() == formatJSON && out.n == 0 {
		if err := printJSON(a.out, failureView{Error: printable(err.Error()), ExitCode: code}); err != nil {
			fmt.Fprintf(a.err, "remuda: %v\n", err)
		}
	}
	fmt.Fprintf(a.err, "remuda: %s\n", strings.ReplaceAll(printable(err.Error()), "\n", "\nremuda: "))
	if code == exitUsage && errors.Is(err, errUsage) {
		fmt.Fprintf(a.err, "See '%s --help'.\n", cmd.CommandPath())
	}
	return code
}

// failureView is what a verb prints as JSON that has nothing else to print. Its shape is documented in docs/cli.md.
type failureView struct {
	Error    string `json:"error"`
	ExitCode int    `json:"exitCode"`
}

// counted counts what is written.
type counted struct {
	io.Writer
	n int
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += n
	return n, err
}

// noArgs and atMostOneArg are the argument checks of verbs, as usage errors.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasAvailableSubCommands() {
		return unknownVerb(cmd, args[0])
	}
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
