//go:build unix

package procfleet

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
)

// List keeps the contract of fleet.Fleet and hides no new machine. Ended ones stay for an hour. It
// reads the folder and asks which leaders live, so it is right while no one is in Run.
func (f *Fleet) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	all, err := call(ctx, f, "list machines", func() ([]record, error) { return f.disk.all(f.clock.Now()) })
	if err != nil {
		return nil, err
	}
	var out []fleet.Machine
	for _, r := range all {
		if token == "" || r.LaunchToken == token {
			out = append(out, f.view(r))
		}
	}
	slices.SortFunc(out, func(a, b fleet.Machine) int {
		return cmp.Or(a.LaunchedAt.Compare(b.LaunchedAt), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Terminate keeps the contract of fleet.Fleet. It returns once the order is on disk; Run carries it
// out: SIGTERM to the agent, and after the grace, or when the agent has ended, SIGKILL to all that
// is left of the machine.
func (f *Fleet) Terminate(ctx context.Context, ids ...string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !idPattern().MatchString(id) })
	if len(ids) == 0 {
		return nil
	}
	err := f.usable(ctx)
	var unlock func() error
	if err == nil {
		unlock, err = f.disk.lock(ctx)
	}
	if err != nil {
		return fleet.TerminateErrors(ids, err)
	}
	var errs []error
	for _, id := range ids {
		if err := f.terminate(id); err != nil {
			errs = append(errs, &fleet.TerminateError{ID: id, Cause: err})
		}
	}
	if err := unlock(); err != nil {
		errs = append(errs, err)
	}
	f.nudge()
	return errors.Join(errs...)
}

func (f *Fleet) terminate(id string) error {
	now := f.clock.Now().UTC()
	r, err := f.disk.load(id, now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !r.end(causeTerminated, now) {
		return nil
	}
	if err := f.disk.save(r); err != nil {
		return err
	}
	f.logState(r)
	return nil
}

// logState logs that a machine entered its state.
func (f *Fleet) logState(r record) {
	f.log.Info("machine changed state", logkey.InstanceID, r.ID, logkey.State, string(r.State), logkey.Cause, r.Cause,
		logkey.PID, r.Leader.PID, logkey.Seconds, f.clock.Since(r.LaunchedAt).Seconds())
}
