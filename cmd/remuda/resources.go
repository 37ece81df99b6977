package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
)

// resource is what a back end needs somewhere else before it works, such as a table or a queue.
type resource struct {
	name   string
	ensure func(ctx context.Context, apply bool) ([]ensure.Step, error)
}

// resources lists what the back ends of b need. Those on this machine make what they need by
// themselves.
func (b *backends) resources(c config.Config) []resource {
	type ensurer interface {
		Ensure(ctx context.Context, apply bool) ([]ensure.Step, error)
	}
	var out []resource
	if t, ok := b.table.(ensurer); ok {
		out = append(out, resource{"store", t.Ensure})
	}
	if q, ok := b.pool.(interface {
		Ensure(ctx context.Context, apply bool, classes ...string) ([]ensure.Step, error)
	}); ok {
		out = append(out, resource{"pool", func(ctx context.Context, apply bool) ([]ensure.Step, error) {
			return q.Ensure(ctx, apply, slices.Sorted(maps.Keys(c.Classes))...)
		}})
	}
	if f, ok := b.fleet.Fleet.(ensurer); ok {
		out = append(out, resource{"fleet", f.Ensure})
	}
	return out
}

// chore keeps r as it must be, and logs what it had to change. This process wants the same every time, so what
// differs from what it saw in order before was changed by someone else, who may change it again: by hand,
// or by `remuda init` with another configuration or version, which can go on for ever.
func (r resource) chore(log *slog.Logger) reconciler.Chore {
	var mu sync.Mutex
	settled := map[string]bool{}
	return reconciler.Chore{Name: r.name, Do: func(ctx context.Context) error {
		steps, err := r.ensure(ctx, true)
		mu.Lock()
		defer mu.Unlock()
		for _, s := range steps {
			log := log.With(logkey.Resource, s.Resource, logkey.Action, s.Action, logkey.Detail, s.Detail)
			switch {
			case s.Action == ensure.Unchanged:
			case settled[s.Resource]:
				log.Warn("a resource was changed by someone else: do all hosts have the same configuration and version?")
			default:
				log.Info("a resource was made or repaired")
			}
			settled[s.Resource] = true
		}
		return err
	}}
}

// ensureTries is how often a resource is tried while AWS is only busy or does not answer, and ensurePause
// the first pause, which doubles: 15 s in all, longer than a throttled control plane needs.
const (
	ensureTries = 5
	ensurePause = time.Second
)

// ensureAll sees to every resource, each failing alone, and hands every step to report.
func (a *app) ensureAll(ctx context.Context, resources []resource, apply bool, report func(ensure.Step)) error {
	var errs []error
	for _, r := range resources {
		if err := a.ensure(ctx, r, apply, report); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(errs...)
}

// ensure sees to one resource. What an earlier try has reported is not reported again.
func (a *app) ensure(ctx context.Context, r resource, apply bool, report func(ensure.Step)) error {
	reported := map[string]bool{}
	for try, pause := 1, ensurePause; ; try, pause = try+1, 2*pause {
		steps, err := r.ensure(ctx, apply)
		for _, s := range steps {
			if !reported[s.Resource] {
				reported[s.Resource] = true
				report(s)
			}
		}
		if try == ensureTries || !passing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-a.clock.After(pause):
		}
	}
}

// passing reports whether err is a failure of AWS that may be gone at the next try.
func passing(err error) bool {
	failed := (*awserr.Error)(nil)
	if !errors.As(err, &failed) {
		return false
	}
	class := awserr.ClassOf(err)
	return class == awserr.Throttled || class == awserr.Unavailable
}
