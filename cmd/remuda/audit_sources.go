package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/reconciler/audit"
)

// auditSources are where an installation is read, and what of it is not.
type auditSources struct {
	audit.Sources
	backends   // the fleet, and the back ends that Ensure looks at; its table is the store's
	closeStore func() error
	needed     []resource

	notCompared []partView
}

// leaveOut notes a part that there is no reason to compare.
func (f *auditSources) leaveOut(part audit.Part, reason string) {
	f.notCompared = append(f.notCompared, partView{Part: string(part), Reason: reason})
}

// fail notes a part that cannot be compared, once.
func (f *auditSources) fail(part audit.Part, err error) {
	if !slices.ContainsFunc(f.notCompared, func(p partView) bool { return p.Part == string(part) }) {
		f.notCompared = append(f.notCompared, partView{Part: string(part), Reason: err.Error(), Failed: true})
	}
}

// openFleet opens the fleet, unless that would make it.
func (f *auditSources) openFleet(ctx context.Context, a *app, cfg config.Config) error {
	dir, err := localPath(cfg.Fleet)
	if err == nil && dir != "" {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return fmt.Errorf("open fleet: %w", err)
	}
	if f.backends.fleet, err = a.openFleet(ctx, cfg, "", f.log); err != nil {
		return err
	}
	f.Fleet = f.backends.fleet
	return nil
}

// openGitHub makes the client.
func (f *auditSources) openGitHub(_ context.Context, a *app, cfg config.Config) error {
	if cfg.GitHub.URL == "" {
		f.leaveOut(audit.GitHub, "github.url is not configured")
		return nil
	}
	client, err := a.githubClient(cfg, f.log, nil)
	if err != nil {
		return err
	}
	f.GitHub = client
	return nil
}

// openResources opens the pool too, if it is elsewhere. On this machine nothing is needed.
func (f *auditSources) openResources(ctx context.Context, a *app, cfg config.Config) (err error) {
	if !config.HasScheme(cfg.PoolURL(), onThisMachine) {
		if f.pool, err = openPool(ctx, cfg, a.clock, f.log); err != nil {
			return err
		}
	}
	f.needed = f.resources(cfg)
	return nil
}

// look reads everything once. A part that fails is noted.
func (f *auditSources) look(ctx context.Context, now time.Time) (*audit.Snapshot, error) {
	s, err := audit.Look(ctx, f.Sources, now)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, mark(errPartlyRead, fmt.Errorf("audit: %w", err))
	}
	for _, u := range s.Unread {
		f.fail(u.Part, u.Cause)
	}
	for _, r := range f.needed {
		steps, err := r.ensure(ctx, false)
		if err != nil {
			f.fail(partResources, fmt.Errorf("%s: %w", r.name, err))
		}
		for _, step := range steps {
			if step.Action == ensure.WouldCreate || step.Action == ensure.WouldUpdate {
				s.Missing = append(s.Missing, audit.Resource{Name: step.Resource, Detail: missing(step)})
			}
		}
	}
	return s, nil
}

// missing says what is wrong with a resource that init would make or repair.
func missing(s ensure.Step) string {
	text := "differs from the configuration"
	if s.Action == ensure.WouldCreate {
		text = "does not exist"
	}
	if s.Detail != "" {
		text += ": " + s.Detail
	}
	return text
}

// close closes what was opened; the store closes its own table.
func (f *auditSources) close() error {
	f.backends.table = nil
	return errors.Join(f.backends.close(), f.closeStore())
}
