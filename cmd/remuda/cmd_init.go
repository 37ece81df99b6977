package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/store"
)

const initLong = `Makes what the installation needs outside the controller's host, or repairs it: the table, its
queue of notifications, a queue per resource class, the launch template. Says of each what it did.
May be repeated at any time; the controller does the same from time to time, by its own
configuration: run init with the same file, or it changes the launch template back. While one of
another version leads, init leaves the template to it. Back ends on this machine need nothing. At last
it asks GitHub for a registration token, which no runner uses, to see that the credentials may
register runners.

With --publish it first puts what machines fetch into the bucket of ec2.bucket: this program and the
archive of actions/runner, for each architecture that a class has and each that is named. It uploads
nothing whose checksum is not known; what is there under its checksum is left as it is, and nothing is
deleted, for machines that still run and for going back. --program and --runner say where to take
one from, once per architecture: ARCH=FILE or ARCH=URL, then a comma and the SHA-256. Without them it is
this program itself, the release of its version for the other architecture, and a runner
whose checksums this version knows.

With --dry-run it changes nothing and says what it would do; of GitHub it only reads.`

func newInitCmd(a *app) *cobra.Command {
	var dryRun bool
	p := publisher{app: a}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make table, queues and launch template, and check GitHub's credentials",
		Long:  initLong,
		Args:  noArgs,
		RunE: a.configured(p.validate, func(ctx context.Context, cfg config.Config) error {
			if p.publish {
				if err := p.run(ctx, cfg, !dryRun); err != nil {
					return fmt.Errorf("publish: %w", err)
				}
			}
			return a.runInit(ctx, cfg, !dryRun)
		}),
	}
	cmd.Flags().BoolVar(&p.publish, "publish", false, "put this program and the runner into the bucket")
	cmd.Flags().StringArrayVar(&p.program, "program", nil, "`ARCH=FILE|URL[,SHA256]` to take this program from")
	cmd.Flags().StringArrayVar(&p.runner, "runner", nil, "`ARCH=FILE|URL[,SHA256]` to take the archive of actions/runner from")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing, say what would be done")
	cmd.AddCommand(newInitAppCmd(a))
	return exits(cmd, exitInterrupted)
}

func (a *app) runInit(ctx context.Context, cfg config.Config, apply bool) (err error) {
	if cfg.OnEC2() && cfg.Agent.RunnerUser == config.RootUser {
		fmt.Fprintln(a.err, "remuda: "+jobsAreRoot)
	}
	// Those on this machine would be made by being opened.
	remote := func(raw string) bool { return !config.HasScheme(raw, onThisMachine) }
	b, err := a.openBackends(ctx, cfg, "", nil, slog.New(slog.DiscardHandler), remote)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	resources := underAnother(ctx, a, cfg, b.table, b.resources(cfg))
	if len(resources) == 0 {
		fmt.Fprintln(a.out, "Nothing to make: store, pool and fleet are on this machine.")
	}
	if cfg.GitHub.URL != "" { // else it is simulated
		resources = append(resources, a.githubResource(cfg, b.log))
	}
	return a.ensureAll(ctx, resources, apply, func(s ensure.Step) { fmt.Fprintln(a.out, s) })
}

// underAnother leaves the launch template alone while a controller of another version leads: it keeps its own, and each would change
// the other's for ever.
func underAnother(ctx context.Context, a *app, cfg config.Config, table store.Table, resources []resource) []resource {
	if table == nil { // on this machine
		return resources
	}
	own := currentVersion().Version
	v, err := readController(ctx, store.New(table), a.clock.Now(), auditConfig(cfg))
	if err != nil || v == nil || !v.Leads || v.ControllerVersion == "" || v.ControllerVersion == own { // a table that is not there has no leader
		return resources
	}
	return slices.DeleteFunc(resources, func(r resource) bool {
		if r.name == "fleet" {
			fmt.Fprintf(a.out, "launch template: left to %s, which leads and is of version %s: one of this version, %s, makes its own once it leads\n", v.Holder, v.ControllerVersion, own)
		}
		return r.name == "fleet"
	})
}

// onThisMachine lists the schemes of back ends that are files and processes.
var onThisMachine = []string{"sqlite", "process"}
