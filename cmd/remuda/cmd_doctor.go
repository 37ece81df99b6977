package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
)

const doctorLong = `Looks at everything between this shell and a runner that takes jobs, and says of each what is
so and what to do: configuration, clock, credentials and what they and machines may do, table, queues,
launch templates, instance profiles, images, subnets, quotas, the program and the runner that machines
fetch, GitHub, the controller and its agents. It changes nothing.

It asks with the credentials of this shell, which may be the controller's, init's or an
operator's; what they may not look at is skipped and says so. Whether the controller's role,
NAME-controller unless --role names another, has the permissions that it needs is asked of IAM's
simulator, where that is allowed; without such a role, of who asks.`

// doctorOptions are the flags of `remuda doctor`.
type doctorOptions struct {
	*app
	output string
	role   string        // whose permissions are simulated; "": as principals says
	policy string        // which of deploy/iam they are held to
	wait   string        // for a controller that was just started; "": not
	limit  time.Duration // of wait, once it is read
}

// doctorLimit bounds one check: the longest is the fetch of a runner's archive of 200 MB.
const doctorLimit = 2 * time.Minute

// doctorPolicies are the documents of deploy/iam that a role can be held to.
var doctorPolicies = []string{"controller", "init", "operator"}

func newDoctorCmd(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything between this shell and a ready runner",
		Long:  doctorLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	fs.StringVar(&o.role, "role", "", "ARN of the `role` whose permissions are simulated (default: NAME-controller, else that of this shell)")
	fs.StringVar(&o.policy, "policy", doctorPolicies[0], "the `policy` of deploy/iam that it must have: "+strings.Join(doctorPolicies, ", "))
	fs.StringVar(&o.wait, "wait", "", "longest `duration` to wait for a controller to lead, such as 2m for one that was just started")
	completes(cmd, "output", formatTable, formatJSON)
	completes(cmd, "policy", doctorPolicies...)
	return exits(cmd, exitViolated, exitInterrupted)
}

// mostWait bounds --wait: a host of the stack takes some minutes to boot.
const mostWait = time.Hour

func (o *doctorOptions) validate(config.Config) (err error) {
	errs := []error{checkFormat(o.output, formatTable, formatJSON), oneOf("--policy", o.policy, doctorPolicies)}
	if o.role != "" && !strings.Contains(o.role, ":role/") {
		errs = append(errs, fmt.Errorf("--role: must be the ARN of a role, such as arn:aws:iam::111122223333:role/remuda-controller, got %q", o.role))
	}
	if o.wait != "" {
		o.limit, err = parseDuration("--wait", o.wait, mostWait)
	}
	return errors.Join(append(errs, err)...)
}

// doctorView is what `remuda doctor -o json` prints.
type doctorView struct {
	Checks   []finding.Finding `json:"checks"`
	Failed   int               `json:"failed"`
	Warnings int               `json:"warnings"`
}

// check looks at one thing, and may find several.
type check func(context.Context, config.Config) []finding.Finding

func (o *doctorOptions) run(ctx context.Context, cfg config.Config) error {
	if err := awaitLeader(ctx, o.app, cfg, o.limit); err != nil {
		return err
	}
	checks := []check{o.configuration, o.account, o.resourcesOf, o.published, o.github, o.controller}
	found := make([][]finding.Finding, len(checks))
	var g errgroup.Group
	for i, look := range checks {
		g.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, doctorLimit)
			defer cancel()
			found[i] = look(limited, cfg)
			return nil
		})
	}
	if err := errors.Join(g.Wait(), ctx.Err()); err != nil {
		return err
	}
	view := doctorView{}
	for _, some := range found {
		view.Checks = append(view.Checks, some...)
	}
	for _, f := range view.Checks {
		switch f.Verdict {
		case finding.Failed:
			view.Failed++
		case finding.Warning:
			view.Warnings++
		case finding.OK, finding.Skipped:
		}
	}
	if err := printAs(o.out, o.output, view, renderDoctor(view)); err != nil {
		return err
	}
	if view.Failed > 0 {
		return mark(errViolated, fmt.Errorf("doctor: %s failed", plural(view.Failed, "check")))
	}
	return nil
}

// renderDoctor writes a view for people: a line for each check, its remedy below it.
func renderDoctor(v doctorView) string {
	width := 0
	for _, f := range v.Checks {
		width = max(width, len(f.Check))
	}
	var b strings.Builder
	for _, f := range v.Checks {
		fmt.Fprintf(&b, "%-7s  %-*s  %s\n", f.Verdict, width, f.Check, strings.ReplaceAll(printable(f.Detail), "\n", "; "))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%-7s  %-*s  → %s\n", "", width, "", printable(f.Remedy))
		}
	}
	fmt.Fprintf(&b, "%s: %d failed, %s\n", plural(len(v.Checks), "check"), v.Failed, plural(v.Warnings, "warning"))
	return b.String()
}
