package main

import (
	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/statemachine"
)

const fsmLong = `Prints the state machine of instances, or with --requests that of requests, from the
table that the program runs on. Format markdown prints both: docs/statemachine.md.`

var fsmFormats = []string{"table", "mermaid", "json", "markdown"}

func newFSMCmd(a *app) *cobra.Command {
	var format string
	var requests bool
	cmd := &cobra.Command{
		Use:   "fsm",
		Short: "Print the state machines",
		Long:  fsmLong,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("--format", format, fsmFormats); err != nil {
				return asUsage(err)
			}
			m := statemachine.InstanceMachine()
			if requests {
				m = statemachine.RequestMachine()
			}
			var text []byte
			var err error
			switch format {
			case "markdown":
				text = []byte(statemachine.Markdown())
			case "mermaid":
				text = []byte(m.Mermaid())
			case "json":
				text, err = m.JSON()
			default:
				text = []byte(m.Table())
			}
			if err == nil {
				_, err = a.out.Write(text)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table, mermaid, json or markdown")
	cmd.Flags().BoolVar(&requests, "requests", false, "the state machine of requests")
	completes(cmd, "format", fsmFormats...)
	return exits(cmd)
}
