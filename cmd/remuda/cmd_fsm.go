package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/remuda-run/remuda/statemachine"
)

const fsmLong = `Prints the state machine of instances, or with --requests that of requests, from the
table that the program runs on. Format markdown prints both: docs/statemachine.md.`

var fsmFormats = []string{"table", "mermaid", "json", "markdown"}

// fsmOptions are the flags of `remuda fsm`.
type fsmOptions struct {
	format   string
	requests bool
}

func newFSMCmd(a *app) *cobra.Command {
	o := &fsmOptions{}
	cmd := &cobra.Command{
		Use:   "fsm",
		Short: "Print the state machines",
		Long:  fsmLong,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := o.validate(); err != nil {
				return asUsage(err)
			}
			return o.run(a.streams)
		},
	}
	o.flags(cmd.Flags())
	completes(cmd, "format", fsmFormats...)
	return exits(cmd)
}

func (o *fsmOptions) flags(fs *pflag.FlagSet) {
	fs.StringVar(&o.format, "format", "table", "table, mermaid, json or markdown")
	fs.BoolVar(&o.requests, "requests", false, "the state machine of requests")
}

func (o *fsmOptions) validate() error {
	return oneOf("--format", o.format, fsmFormats)
}

func (o *fsmOptions) run(s streams) error {
	m := statemachine.InstanceMachine()
	if o.requests {
		m = statemachine.RequestMachine()
	}
	var text string
	switch o.format {
	case "markdown":
		text = statemachine.Markdown()
	case "mermaid":
		text = m.Mermaid()
	case "json":
		b, err := m.JSON()
		if err != nil {
			return err
		}
		text = string(b)
	default:
		text = m.Table()
	}
	_, err := fmt.Fprint(s.out, text)
	return err
}
