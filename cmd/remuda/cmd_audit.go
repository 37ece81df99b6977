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

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
)

const auditLong = `Compares store, fleet and GitHub, and the queues and templates that they need, and prints every
violated invariant: which resource, what is wrong, what to do. The invariants are listed in
docs/operating.md. It only reads.

An installation moves while it is read. So it is read twice, --settle apart: what may have
been read at two different times counts only if both looks show it.

It needs the configuration and the credentials of the controller, which may read everything. What
others may not read is left out with --without; what cannot be read otherwise is a failure of its own.`

// auditOptions are the flags of `remuda audit`.
type auditOptions struct {
	*app
	output  string
	settle  time.Duration
	without []string
}

// partResources is the part of an installation that only this command looks at: what Ensure makes.
const partResources audit.Part = "resources"

// auditParts lists what can be left out.
var auditParts = []string{string(audit.Fleet), string(audit.GitHub), string(partResources)}

func newAuditCmd(a *app) *cobra.Command {
	o := &auditOptions{app: a}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check the invariants",
		Long:  auditLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	fs.DurationVar(&o.settle, "settle", 5*time.Second, "time between the two looks; longer for back ends whose reads are late")
	fs.StringSliceVar(&o.without, "without", nil, "`parts` to leave out: "+strings.Join(auditParts, ", "))
	completes(cmd, "output", formatTable, formatJSON)
	completes(cmd, "without", auditParts...)
	return exits(cmd, exitNotFound, exitViolated, exitPartlyRead, exitInterrupted)
}

func (o *auditOptions) validate(config.Config) error {
	errs := []error{checkFormat(o.output, formatTable, formatJSON)}
	if o.settle < 0 {
		errs = append(errs, fmt.Errorf("--settle: must not be negative, got %s", o.settle))
	}
	for _, part := range o.without {
		errs = append(errs, oneOf("--without", part, auditParts))
	}
	return errors.Join(errs...)
}

func (o *auditOptions) run(ctx context.Context, cfg config.Config) (err error) {
	from, err := o.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	view, err := o.look(ctx, from, auditConfig(cfg))
	if err != nil {
		return err
	}
	if err := printAs(o.out, o.output, view, renderAudit(view)); err != nil {
		return err
	}
	if n := len(view.Violations); n > 0 {
		return mark(errViolated, fmt.Errorf("audit: %s", plural(n, "violation")))
	}
	var unread []error
	for _, p := range view.NotCompared {
		if p.Failed {
			unread = append(unread, mark(errPartlyRead, fmt.Errorf("audit: %s: not compared: %s", p.Part, p.Reason)))
		}
	}
	return errors.Join(unread...)
}

// auditConfig says what the installation may take its time for. Parts on one machine share its clock.
func auditConfig(cfg config.Config) audit.Options {
	o := audit.Options{Config: cfg.Controller(""), Skew: clockSkew}
	if config.HasScheme(cfg.Store, onThisMachine) && config.HasScheme(cfg.Fleet, onThisMachine) {
		o.Skew = 0
	}
	return o
}

// clockSkew is how far two clocks may differ (docs/goals.md, G12).
const clockSkew = time.Minute

// look reads everything twice and judges it.
func (o *auditOptions) look(ctx context.Context, from *auditSources, opts audit.Options) (auditView, error) {
	first, err := from.look(ctx, o.clock.Now())
	if err != nil {
		return auditView{}, err
	}
	select {
	case <-ctx.Done():
		return auditView{}, context.Cause(ctx)
	case <-o.clock.After(o.settle):
	}
	second, err := from.look(ctx, o.clock.Now())
	if err != nil {
		return auditView{}, err
	}
	found := audit.Confirm(audit.Check(first, opts), audit.Check(second, opts))
	found = append(found, audit.Step(first, second, opts)...)
	slices.SortStableFunc(found, func(a, b audit.Violation) int { return a.ID - b.ID })
	return newAuditView(second, found, from.notCompared), nil
}

// open opens what is to be compared. What cannot be opened is noted; without the store there is nothing.
func (o *auditOptions) open(ctx context.Context, cfg config.Config) (*auditSources, error) {
	from := &auditSources{backends: backends{log: slog.New(slog.DiscardHandler)}}
	st, closeStore, err := o.openStore(ctx, cfg, true)
	if err != nil {
		return nil, err
	}
	from.Store, from.closeStore = st, closeStore
	from.backends.table = st.Table()
	steps := []struct {
		part audit.Part
		open func(context.Context, *app, config.Config) error
	}{{audit.Fleet, from.openFleet}, {audit.GitHub, from.openGitHub}, {partResources, from.openResources}}
	for _, s := range steps {
		if slices.Contains(o.without, string(s.part)) {
			from.leaveOut(s.part, "left out by --without")
		} else if err := s.open(ctx, o.app, cfg); err != nil {
			from.fail(s.part, err)
		}
	}
	return from, nil
}
