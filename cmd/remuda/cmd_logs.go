package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/fleet/ec2fleet"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const logsLong = `Prints what a machine printed last: its agent, the operator's scripts, the runner. Of each it
has the end, at most 256 KiB, with *** in place of secrets.

A process fleet keeps it for 7 days after the machine's end, and shows that of one that lives. Of an
EC2 instance it is the console, which EC2 shows for an hour after the end, and with ec2.bucket what
scripts and runner printed, for 7 days.`

// logsOptions are the flags of `remuda logs`.
type logsOptions struct {
	*app
	output, source, id string
}

// logSources are those that --source takes.
var logSources = []string{machinelog.Agent, machinelog.Script, machinelog.Runner, machinelog.Console}

func newLogsCmd(a *app) *cobra.Command {
	o := &logsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs INSTANCE",
		Short: "Show what a machine printed last",
		Long:  logsLong,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("INSTANCE: must be given, the id of one, and nothing else")
			}
			o.id = args[0]
			return nil
		},
		RunE: a.configured(o.validate, o.run),

		ValidArgsFunction: completesIDs(a, true, false),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatText, "text or json")
	fs.StringVar(&o.source, "source", "", "this `source` alone: "+strings.Join(logSources, ", "))
	completes(cmd, "output", formatText, formatJSON)
	completes(cmd, "source", logSources...)
	return exits(cmd, exitNotFound, exitInterrupted)
}

// formatText is output as it was printed.
const formatText = "text"

func (o *logsOptions) validate(config.Config) error {
	err := checkFormat(o.output, formatText, formatJSON)
	if o.source != "" {
		err = errors.Join(err, oneOf("--source", o.source, logSources))
	}
	return err
}

// logReader is a fleet that knows what its machines printed.
type logReader interface {
	// Log returns the last output of a machine, or machinelog.ErrNone.
	Log(ctx context.Context, id string) (machinelog.Log, error)
}

var _, _ logReader = (*procfleet.Fleet)(nil), (*ec2fleet.Fleet)(nil)

func (o *logsOptions) run(ctx context.Context, cfg config.Config) (err error) {
	l, err := o.read(ctx, cfg)
	if errors.Is(err, machinelog.ErrNone) {
		return o.explain(ctx, cfg, err)
	}
	if err != nil {
		return err
	}
	if o.source != "" {
		l.Sources = slices.DeleteFunc(l.Sources, func(s machinelog.Source) bool { return s.Name != o.source })
		if len(l.Sources) == 0 {
			return notFound("logs of instance %s: source %s printed nothing, or is not among those that are kept", o.id, o.source)
		}
	}
	return printAs(o.out, o.output, l, o.render(l))
}

// read asks the fleet, which is not made by that.
func (o *logsOptions) read(ctx context.Context, cfg config.Config) (l machinelog.Log, err error) {
	if err := exists(cfg.Fleet, true); err != nil {
		return l, fmt.Errorf("open fleet: %w", err)
	}
	cfg.Agent.Script, cfg.Agent.Scrub = "", "" // files of the controller's host, which who reads logs need not have
	f, err := o.openFleet(ctx, cfg, "", slog.New(slog.DiscardHandler))
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	reader, ok := f.Fleet.(logReader)
	if !ok {
		return l, notFound("logs of instance %s: this fleet keeps none", o.id)
	}
	kept, none := o.inBucket(ctx, cfg)
	l, err = reader.Log(ctx, o.id)
	if none != nil {
		if !errors.Is(none, machinelog.ErrNone) {
			fmt.Fprintf(o.err, "remuda: %v\n", none)
		}
		return l, err
	}
	if err != nil && !errors.Is(err, machinelog.ErrNone) { // what there is, is shown
		fmt.Fprintf(o.err, "remuda: %v\n", err)
	}
	kept.Sources = append(kept.Sources, l.Sources...)
	return kept, nil
}

// inBucket returns what a machine has left in the installation's bucket, if there is one.
func (o *logsOptions) inBucket(ctx context.Context, cfg config.Config) (machinelog.Log, error) {
	if cfg.EC2.Bucket == "" {
		return machinelog.Log{}, machinelog.ErrNone
	}
	b, err := openBucket(ctx, cfg)
	if err != nil {
		return machinelog.Log{}, err
	}
	return bucket.Logs{Bucket: b}.Get(ctx, o.id)
}

// explain says why there is nothing.
func (o *logsOptions) explain(ctx context.Context, cfg config.Config, cause error) error {
	return o.withStore(ctx, cfg, true, func(st *store.Store) error {
		found, err := matching(ctx, st, func(in store.Instance) bool { return string(in.ID) == o.id })
		switch {
		case err != nil:
			return errors.Join(cause, err)
		case len(found) == 0:
			return fmt.Errorf("instance %s: %w", o.id, mark(store.ErrNotFound, cause))
		case found[0].State == statemachine.Terminated:
			return fmt.Errorf("instance %s has ended: %w", o.id, mark(store.ErrNotFound, cause))
		}
		return fmt.Errorf("instance %s is %s: %w", o.id, found[0].State, mark(store.ErrNotFound, cause))
	})
}

// render writes a log for people. One source alone is nothing but its text.
func (o *logsOptions) render(l machinelog.Log) string {
	var b strings.Builder
	if o.source == "" {
		fmt.Fprintf(&b, "%s at %s: %s\n", l.InstanceID, l.TakenAt.UTC().Format(time.RFC3339), l.Reason)
	}
	for _, s := range l.Sources {
		if o.source == "" {
			fmt.Fprintf(&b, "\n%s\n%s\n", s.Name, strings.Repeat("=", len(s.Name)))
		}
		b.WriteString(s.Text)
	}
	return printable(strings.ReplaceAll(sequences().ReplaceAllString(b.String(), ""), "\t", "        "))
}

// sequences are those by which a program controls a terminal (ECMA-48, 5.4 and 5.6): left out as a whole, they leave no
// remains. One that does not end in its line takes no other with it.
var sequences = lazyregexp.New(`\x1b(?:\[[0-?]*[\x20-\x2f]*[\x40-\x7e]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[\x20-\x2f]*[0-~])`)
