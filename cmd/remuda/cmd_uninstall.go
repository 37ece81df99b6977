package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/fleet/ec2fleet"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

const uninstallLong = `Ends an installation on AWS: its machines, and then what it made itself, which is the launch templates, the
queues of all classes and every version of what is ours in ec2.bucket. Says first what that is, and asks for
the installation's name, or for --yes where nobody can be asked. May be repeated at any time.

What a stack or a person made is left: roles, bucket, secret, table and queue of notifications; the stack can
be deleted then. --all deletes the last two as well, where remuda init made them.

While a controller leads, machines are drained: each ends after its job. Then every controller must be stopped,
since it would make again what is deleted; the command waits for that. Machines that are left when
none leads, or all with --force, are ended at once, and their jobs fail. See that no workflow asks for machines
any more before you begin.`

// uninstallOptions are the flags of `remuda uninstall`.
type uninstallOptions struct {
	*app
	all, dryRun, force, yes bool
	timeout                 string
	limit                   time.Duration
}

func newUninstallCmd(a *app) *cobra.Command {
	o := &uninstallOptions{app: a}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "End all machines and delete what the installation made on AWS",
		Long:  uninstallLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.all, "all", false, "delete table and queue of notifications, too")
	fs.BoolVar(&o.dryRun, "dry-run", false, "change nothing, say what would be deleted")
	fs.BoolVar(&o.force, "force", false, "do not wait for jobs: they fail")
	fs.BoolVar(&o.yes, "yes", false, "do not ask")
	fs.StringVar(&o.timeout, "timeout", "", "longest `duration` to wait for machines and controllers (default limits.running)")
	return exits(cmd, exitTimedOut, exitInterrupted)
}

func (o *uninstallOptions) validate(cfg config.Config) (err error) {
	var errs []error
	if !cfg.OnEC2() {
		errs = append(errs, fmt.Errorf("fleet: must be ec2://NAME for this command, got %q: an installation on this machine is its files", cfg.Fleet))
	}
	if !o.yes && !o.dryRun && !o.inTTY {
		errs = append(errs, errors.New("--yes: must be given where nobody can be asked, or --dry-run"))
	}
	o.limit, err = parseDuration("--timeout", cmp.Or(o.timeout, cfg.UsualRuntime().String()), cfg.Requests.MaxRuntime)
	return errors.Join(append(errs, err)...)
}

func (o *uninstallOptions) run(ctx context.Context, cfg config.Config) error {
	return o.withStore(ctx, cfg, true, func(st *store.Store) (err error) {
		remains, err := openRemains(ctx, cfg)
		if err != nil {
			return err
		}
		var p pool.Pool
		if !config.HasScheme(cfg.PoolURL(), onThisMachine) { // which would be made by being opened
			if p, err = openPool(ctx, cfg, o.clock, slog.New(slog.DiscardHandler)); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
		}
		e := newEnding(o.app, st, remains, o.force, cfg.Controller("").React())
		made, err := o.made(ctx, cfg, st, p, remains)
		if err != nil {
			return err
		}
		found := 0
		say := func(s ensure.Step) {
			found++
			fmt.Fprintln(o.out, s)
		}
		n, _, err := remains.Machines(ctx)
		if n > 0 {
			say(ensure.Step{Resource: "machines of " + remains.Name(), Action: ensure.WouldEnd, Detail: fmt.Sprint(n)})
		}
		if err := errors.Join(err, o.ensureAll(ctx, made, false, say)); err != nil {
			return err
		}
		if found == 0 {
			fmt.Fprintln(o.out, "Nothing to delete.")
		}
		if o.dryRun {
			return nil
		}
		if found > 0 && !o.yes {
			if err := o.confirm(ctx, remains.Name()); err != nil {
				return err
			}
		}
		start := o.clock.Now()
		wait, cancel := waitLimit(ctx, o.limit, "uninstall")
		defer cancel()
		defer e.show.clear()
		if err := e.rest(wait); err != nil {
			return err
		}
		found = 0
		err = e.finish(wait, func() error { return errors.Join(o.ensureAll(ctx, made, true, say), e.unled(ctx)) })
		if err == nil {
			fmt.Fprintf(o.out, "uninstalled %s after %s: %d deleted\n", remains.Name(), seconds(o.clock.Now().Sub(start)), found)
		}
		return err
	})
}

// openRemains opens what the fleet of cfg has at EC2.
func openRemains(ctx context.Context, cfg config.Config) (*ec2fleet.Remains, error) {
	aws, err := fleetAWS(ctx, cfg)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(cfg.Fleet)
	if err != nil {
		return nil, asUsage(fmt.Errorf("fleet: %w", err))
	}
	r, err := ec2fleet.OpenRemains(u, aws)
	return r, asUsage(err)
}

// remover is a back end that can delete what Ensure made.
type remover interface {
	Remove(ctx context.Context, apply bool) ([]ensure.Step, error)
}

// made lists what is to be deleted once no controller leads, in this order: the table, which shows whether one does, at last.
func (o *uninstallOptions) made(ctx context.Context, cfg config.Config, st *store.Store, p pool.Pool, fleet *ec2fleet.Remains) ([]resource, error) {
	out := []resource{{"fleet", fleet.RemoveTemplates}}
	if q, ok := p.(remover); ok {
		out = append(out, resource{"pool", q.Remove})
	}
	if cfg.EC2.Bucket != "" {
		b, err := openBucket(ctx, cfg)
		if err != nil {
			return nil, err
		}
		out = append(out, resource{"bucket", func(ctx context.Context, apply bool) ([]ensure.Step, error) {
			n, err := b.Clear(ctx, apply)
			if n == 0 {
				return nil, err
			}
			step := ensure.Removal("objects of bucket "+cfg.EC2.Bucket, apply)
			step.Detail = plural(n, "version")
			return []ensure.Step{step}, err
		}})
	}
	if t, ok := st.Table().(remover); ok && o.all {
		out = append(out, resource{"store", t.Remove})
	}
	return out, nil
}

// confirm asks for the installation's name.
func (o *uninstallOptions) confirm(ctx context.Context, name string) error {
	fmt.Fprintf(o.err, "Machines end and all of this is deleted for good. Type %s to go on: ", name)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(o.in).ReadString('\n') // what cannot be read confirms nothing
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return ended(ctx)
	case got := <-answer:
		if got != name {
			return fmt.Errorf("not confirmed: must be %s, got %q; nothing was deleted", name, got)
		}
		return nil
	}
}
