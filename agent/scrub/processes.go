package scrub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/process"
)

// The processes of a listener end with its boundary (package boundary, docs/adr/0036). Where the runner's user is one
// instance's alone, the rest of the user's processes end too: those that services of the machine have started for it. A
// group of systemd's that is the user's alone ends as a whole, and the kernel kills all that runs as the user, wherever it
// is, at once (process.User.Kill). Only processes under a subordinate uid are left then. In groups that they share with
// others they are found by a listing, which is complete because these groups are frozen meanwhile. The search of /proc
// that follows is a second look, and finds zombies. Where instances share the user, boundary and search are all there is.

// processes are those of runs, as a Scrubber knows them.
type processes Scrubber

// killPause is the longest time between two searches for processes that were killed; killTries bounds the searches.
const (
	killPause = 50 * time.Millisecond
	killTries = 100
)

// quietLooks is how many searches in a row must find nothing if processes have started meanwhile: one search misses a
// process that was forked behind it by another that ended before it.
const quietLooks = 3

// killAll kills every process of the run and returns once none is left. A timed job that is about to start is still root's
// when the others are killed. So no such job may be there before the kill, nor after it.
func (p processes) killAll(ctx context.Context) error {
	if p.User == nil {
		return p.killNow(ctx)
	}
	for killed, try := false, 0; try < killTries; try++ {
		jobs, err := process.JobsAboutToStart()
		switch {
		case err != nil || killed && len(jobs) == 0:
			return err
		case len(jobs) == 0:
			killed, err = true, p.killNow(ctx)
		default:
			killed, err = false, errors.Join(p.killNow(ctx), p.pause(ctx, killPause)) // it may be a process of the run with such a name
		}
		if err != nil {
			return err
		}
	}
	return errors.New("cron or at is starting a job and does not finish that: the job may be of the run")
}

// killNow kills every process of the run that has started.
func (p processes) killNow(ctx context.Context) error {
	if p.Boundary != nil {
		if err := p.Boundary.End(ctx); err != nil {
			return err
		}
	}
	if p.User == nil {
		return p.killUntilQuiet(ctx, p.left)
	}
	if err := boundary.EndUser(ctx, p.User.UID); err != nil {
		return err
	}
	user, err := p.User.Lookup(p.System)
	if err != nil {
		return err
	}
	if len(user.Subordinate) > 0 {
		if err := p.killWhileFrozen(ctx); err != nil {
			return err
		}
	}
	return p.killUntilQuiet(ctx, p.left)
}

// killWhileFrozen kills the processes in groups that also hold others' while these groups are frozen. The status of what
// ends there cannot be read before they go on.
func (p processes) killWhileFrozen(ctx context.Context) error {
	err := boundary.Freeze(ctx, p.Root)
	if err == nil {
		err = p.killUntilQuiet(ctx, p.running)
	}
	return errors.Join(err, boundary.Thaw(p.Root))
}

// nothingCame searches for a process of the run that started while its files were removed, as by a timed job of the
// user. Such a process may have written files behind the removal. The kill at the end reaches one that the search missed.
func (p processes) nothingCame() error {
	err := p.look(p.left, func(left []process.Ref) error {
		return fmt.Errorf("process %d began while the machine was cleaned, one of %d", left[0].PID, len(left))
	})
	return errors.Join(err, p.killByKernel())
}

// look searches until no process is found for certain. It calls found with the processes that it finds, and ends with its error.
func (p processes) look(find func() ([]process.Ref, error), found func([]process.Ref) error) error {
	for quiet := 0; quiet < quietLooks; {
		newest := process.LastPID()
		left, err := find()
		if err == nil && len(left) > 0 {
			quiet, err = 0, found(left)
		} else if quiet++; newest >= 0 && process.LastPID() == newest {
			quiet = quietLooks // no process has started meanwhile
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// killUsers kills every process of the runner's user alone, and what such left in the kernel: what runs before the
// first run could be changed by it to do its work later.
func (p processes) killUsers(ctx context.Context) error {
	if p.User == nil {
		return nil
	}
	user, err := p.User.Lookup(p.System)
	if err == nil && !p.Whole { // a person's own account by mistake must not cost the person's work
		var people []process.Ref
		if people, err = user.LoggedIn(); err == nil && len(people) > 0 {
			err = fmt.Errorf("agent.runnerUser must be an account that no one else uses, and process %d is of a login", people[0].PID)
		}
	}
	if err == nil {
		err = boundary.EndUser(ctx, user.UID)
	}
	if err == nil {
		err = p.killUntilQuiet(ctx, process.Search{User: &user.User, Ended: true}.Find)
	}
	if err != nil {
		return fmt.Errorf("end processes of %s, who must have none but a job's: %w", p.User.Name, err)
	}
	return p.removeFromKernel()
}

// killUntilQuiet kills what find finds until that is nothing.
func (p processes) killUntilQuiet(ctx context.Context, find func() ([]process.Ref, error)) error {
	if err := p.killByKernel(); err != nil {
		return err
	}
	try := 0
	return p.look(func() ([]process.Ref, error) {
		if err := process.Reap(); err != nil {
			return nil, err
		}
		return find()
	}, func(left []process.Ref) error {
		if try == killTries {
			return fmt.Errorf("%d processes cannot be killed, or their parents do not read their status; one is %d", len(left), left[0].PID)
		}
		err := errors.Join(p.killByKernel(), process.KillAll(left...))
		if err == nil {
			err = p.pause(ctx, min(killPause, time.Millisecond<<min(try, 10)))
		}
		try++
		return err
	})
}

func (p processes) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.Clock.After(d):
		return nil
	}
}

// killByKernel kills what runs as the runner's user.
func (p processes) killByKernel() error {
	if p.User == nil {
		return nil
	}
	return process.User{UID: p.User.UID}.Kill()
}

// running returns the processes of runs that run, without this one.
func (p processes) running() ([]process.Ref, error) { return p.find(false) }

// left is running with the user's zombies.
func (p processes) left() ([]process.Ref, error) { return p.find(true) }

func (p processes) find(ended bool) ([]process.Ref, error) {
	search := process.Search{Env: agent.EnvMarker, Value: p.InstanceID, Ended: ended}
	if p.Tree {
		search.Ancestor = os.Getpid()
	}
	if p.User != nil {
		user, err := p.User.Lookup(p.System)
		if err != nil {
			return nil, err
		}
		search.User = &user.User
	}
	left, err := search.Find()
	kept, kerr := family(p.keeping)
	return slices.DeleteFunc(left, func(r process.Ref) bool { return r.PID == os.Getpid() || slices.Contains(kept, r) }), errors.Join(err, kerr)
}

// removeFromKernel removes what no process needs to keep: shared memory, semaphores, message queues and keys of
// the runner's user. Its processes have ended.
func (p processes) removeFromKernel() error {
	if p.User == nil {
		return nil
	}
	user, err := p.User.Lookup(p.System)
	if err != nil {
		return err
	}
	return errors.Join(user.RemoveIPC(), user.ClearKeyrings())
}

// haltPause is between two looks for processes that were killed because the instance ends.
const haltPause = 20 * time.Millisecond

// endAll kills every process of the run but this one and what it needs, until none is left or ctx ends.
func (p processes) endAll(ctx context.Context) error {
	for {
		kerr := errors.Join(process.Reap(), p.killByKernel())
		if p.Boundary != nil {
			kerr = errors.Join(kerr, p.Boundary.End(ctx))
		}
		left, err := p.running()
		if err := errors.Join(kerr, err, process.KillAll(left...)); err != nil || len(left) == 0 {
			return err
		}
		if err := p.pause(ctx, haltPause); err != nil {
			return err
		}
	}
}
