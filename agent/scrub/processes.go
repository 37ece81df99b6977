package scrub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
)

// Where the runner's user is one instance's alone the kernel kills what runs as that user (process.User.Kill,
// docs/adr/0012): no list is behind, and nothing of it matters that a restarted agent has forgotten, such as who
// descends from it. The looks that follow are the proof, and kill the rest: what is the run's by mark or descent,
// and what changed its uid to one of the user's subordinate ones outside a user namespace. Where the user is
// shared with other instances the looks are all there is: the kernel would kill the neighbours' jobs too.

// processes are those of runs, as a Scrubber knows them.
type processes Scrubber

// killPause is the time between two looks for processes that were killed; killTries bounds them.
const (
	killPause = 50 * time.Millisecond
	killTries = 100
)

// quietLooks is how many looks in a row must find nothing: one misses a process that was forked behind
// it by another that ended before it.
const quietLooks = 3

// killAll kills every process of the run, until looks find none.
func (p processes) killAll(ctx context.Context) error { return p.killUntilQuiet(ctx, p.left) }

// nothingCame looks for a process of the run that began while its files were removed, as by a timed job of the
// user's: it may have written behind the removal.
func (p processes) nothingCame() error {
	for range quietLooks {
		switch left, err := p.left(); {
		case err != nil:
			return err
		case len(left) > 0:
			return fmt.Errorf("process %d began while the machine was cleaned, one of %d", left[0].PID, len(left))
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
		err = p.killUntilQuiet(ctx, user.Processes)
	}
	if err != nil {
		return fmt.Errorf("end processes of %s, who must have none but a job's: %w", p.User.Name, err)
	}
	return p.removeFromKernel()
}

func (p processes) killUntilQuiet(ctx context.Context, look func() ([]process.Ref, error)) error {
	quiet := 0
	for try := 0; ; try++ {
		if quiet == 0 {
			if err := p.killByKernel(); err != nil {
				return err
			}
		}
		left, err := look()
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			if quiet++; quiet < quietLooks {
				try--
				continue
			}
			return nil
		case try == killTries:
			return fmt.Errorf("%d processes cannot be killed, one is %d", len(left), left[0].PID)
		}
		quiet = 0
		if err := process.KillAll(left...); err != nil {
			return err
		}
		if err := p.pause(ctx, killPause); err != nil {
			return err
		}
	}
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

// left returns the processes of runs, without this one.
func (p processes) left() ([]process.Ref, error) {
	search := process.Search{Env: agent.EnvMarker, Value: p.InstanceID}
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
	return slices.DeleteFunc(left, func(r process.Ref) bool { return r.PID == os.Getpid() }), err
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
		kerr := p.killByKernel()
		left, err := p.left()
		if err := errors.Join(kerr, err, process.KillAll(left...)); err != nil || len(left) == 0 {
			return err
		}
		if err := p.pause(ctx, haltPause); err != nil {
			return err
		}
	}
}
