package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
)

// runnerSweep compares GitHub's runners with the records.
type runnerSweep struct {
	*tenure
	cache         *cache
	github        GitHub
	orphanRunners firstSeen // runners without an owner, by name
}

// sweepRunners deletes the runners of ours at GitHub that are offline and without an owner, on a second sight long after
// the first, which may be of a registration in the making, unless the machine is gone. The sweep itself may be repeated
// within seconds, for an error.
func (w *runnerSweep) sweepRunners(ctx context.Context) error {
	runners, err := w.github.Runners(ctx)
	if err != nil {
		return fmt.Errorf("list runners: %w", err)
	}
	now := w.clock.Now()
	present := map[string]bool{}
	var errs []error
	for _, r := range runners {
		present[r.Name] = true
		if r.Online || !w.isOrphan(r.Name) {
			delete(w.orphanRunners, r.Name)
			continue
		}
		if now.Sub(w.orphanRunners.since(r.Name, now)) < w.cfg.Runners/2 && !w.machineGone(r.Name) {
			continue
		}
		switch err := w.github.DeleteRunner(ctx, r.ID); {
		case errors.Is(err, githubapi.ErrBusy): // a later sweep finds it without its job
		case err != nil:
			errs = append(errs, fmt.Errorf("delete runner %s: %w", r.Name, err))
		default:
			w.recorder.Orphaned(OrphanRunner)
			w.log.Info("deleted an orphan runner at GitHub", logkey.Runner, r.Name)
		}
	}
	w.orphanRunners.retain(func(name string) bool { return present[name] })
	return errors.Join(errs...)
}

// isOrphan reports whether a runner is of one of our instances, which no longer uses it.
func (w *runnerSweep) isOrphan(name string) bool {
	s, known := w.cache.ownerOf(name)
	if !known || isPrepared(s, name) {
		return false // not ours, or forgotten: GitHub prunes it
	}
	return !s.State.Owned() && !awaitsAhead(s) || !strings.EqualFold(name, s.Registration.Name) || s.Registration.Assignment != s.Assignment
}

// machineGone reports whether a runner is of a machine that is certainly gone: nothing can change that until a second look,
// which a controller that dies often does not live to.
func (w *runnerSweep) machineGone(name string) bool {
	s, known := w.cache.ownerOf(name)
	return known && s.Gone()
}

// ownerOf returns the instance that a runner was made for, by the runner's name.
func (c *cache) ownerOf(runner string) (snapshot, bool) {
	id, ours := InstanceOf(runner)
	if !ours {
		return snapshot{}, false
	}
	return c.instances.get(id)
}
