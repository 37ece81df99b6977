package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/reconciler"
)

// versionEvery is the time between two looks at a runner version's dates, which GitHub announces about
// a month ahead (GitHub Docs, "Self-hosted runners reference": an update is due within 30 days).
const versionEvery = 6 * time.Hour

// githubKnown is what the chore asks of GitHub.
type githubKnown interface {
	Check(ctx context.Context, write bool) error
	Deprecation(ctx context.Context, version string) (githubapi.Deprecation, bool, error)
}

// githubChore sees that GitHub takes the credentials, also while no runner is needed, and that it goes
// on serving the configured version of the runner. Only what an operator must do is news: who suffers from
// an outage reports it.
type githubChore struct {
	github  githubKnown
	metrics *metrics.Metrics
	version string // "": not known
	clock   clock.PassiveClock
	log     *slog.Logger

	refused bool
	looked  time.Time
}

func (g *githubChore) chore() reconciler.Chore { return reconciler.Chore{Name: "github", Do: g.do} }

func (g *githubChore) do(ctx context.Context) error {
	err := g.github.Check(ctx, false)
	g.metrics.GitHubChecked(err)
	switch {
	case errors.Is(err, githubapi.ErrLocal) && !g.refused:
		g.refused = true
		g.log.Error("GitHub unreachable: fault on the controller's side", logkey.Error, err)
		return nil
	case errors.Is(err, githubapi.ErrRefused), errors.Is(err, githubapi.ErrLocal):
		if !g.refused {
			g.log.Error("GitHub refuses the credentials", logkey.Error, err)
		}
		g.refused = true
		return nil // at the next round; asking sooner repairs nothing
	case err != nil:
		g.log.Debug("GitHub cannot be asked", logkey.Error, err)
		return nil
	case g.refused:
		g.refused = false
		g.log.Info("GitHub takes the credentials again")
	}
	now := g.clock.Now()
	if g.version == "" || !g.looked.IsZero() && now.Sub(g.looked) < versionEvery {
		return nil
	}
	d, known, err := g.github.Deprecation(ctx, g.version)
	if err != nil {
		g.log.Debug("GitHub cannot be asked", logkey.Error, err)
		return nil
	}
	g.looked = now
	if known {
		g.report(d, now)
	}
	return nil
}

// report says when the version ends.
func (g *githubChore) report(d githubapi.Deprecation, now time.Time) {
	end := d.End()
	if !end.IsZero() {
		g.metrics.RunnerVersionEnds(g.version, end)
	}
	switch log := g.log.With(logkey.Version, g.version, logkey.Until, end); {
	case end.IsZero():
	case !end.After(now):
		log.Error("GitHub no longer serves this version of the runner: configure a newer one")
	default:
		log.Warn("GitHub will stop serving this version of the runner: configure a newer one")
	}
}
