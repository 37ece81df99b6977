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

// killPause is the time between two looks for processes that were killed; killTries bounds them.
const (
	killPause = 50 * time.Millisecond
	killTries = 100
)

// quietLooks is how many looks in a row must find nothing: one misses a process that was forked behind
// it by another that ended before it.
const quietLooks = 3

// killAll kills every process of the run, until looks find none.
func (s Scrubber) killAll(ctx context.Context) error { return s.killUntilQuiet(ctx, s.left) }

// nothingCame looks for a process of the run that began while its files were removed, as by a timed job of the
// user's: it may have written behind the removal.
func (s Scrubber) nothingCame() error {
	for range quietLooks {
		switch left, err := s.left(); {
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
func (s Scrubber) killUsers(ctx context.Context) error {
	if s.User == nil {
		return nil
	}
	user, err := s.user()
	if err == nil && !s.Whole { // a person's own account by mistake must not cost the person's work
		err = nobodyLoggedIn(user)
	}
	if err == nil {
		err = s.killUntilQuiet(ctx, user.Processes)
	}
	if err != nil {
		return fmt.Errorf("end processes of %s, who must have none but a job's: %w", s.User.Name, err)
	}
	return s.removeFromKernel()
}

func nobodyLoggedIn(user process.User) error {
	people, err := user.LoggedIn()
	if err == nil && len(people) > 0 {
		err = fmt.Errorf("agent.runnerUser must be an account that nobody else uses, and process %d is of a login", people[0].PID)
	}
	return err
}

func (s Scrubber) killUntilQuiet(ctx context.Context, look func() ([]process.Ref, error)) error {
	quiet := 0
	for try := 0; ; try++ {
		if quiet == 0 {
			if err := s.killByKernel(); err != nil {
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
		t := s.Clock.NewTimer(killPause)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C():
		}
	}
}

// killByKernel kills what runs as the runner's user.
func (s Scrubber) killByKernel() error {
	if s.User == nil {
		return nil
	}
	return process.User{UID: s.User.UID}.Kill()
}

// left returns the processes of runs, without this one.
func (s Scrubber) left() ([]process.Ref, error) {
	search := process.Search{Env: agent.EnvMarker, Value: s.InstanceID}
	if s.Tree {
		search.Ancestor = os.Getpid()
	}
	if s.User != nil {
		user, err := s.user()
		if err != nil {
			return nil, err
		}
		search.User = &user
	}
	left, err := search.Find()
	return slices.DeleteFunc(left, func(r process.Ref) bool { return r.PID == os.Getpid() }), err
}

// removeFromKernel removes what no process needs to keep: shared memory, semaphores, message queues and keys of
// the runner's user. Its processes have ended.
func (s Scrubber) removeFromKernel() error {
	if s.User == nil {
		return nil
	}
	user, err := s.user()
	if err != nil {
		return err
	}
	return errors.Join(user.RemoveIPC(), user.ClearKeyrings())
}

// user is the runner's user with the uids that the system lets it give away.
func (s Scrubber) user() (process.User, error) {
	return process.LookupUser(s.User.Name, s.User.UID, s.system("etc/subuid"))
}

// haltPause is the time between two looks for processes that were killed.
const haltPause = 20 * time.Millisecond

// EndAll kills every process of the run but this one and what it needs, until none is left or ctx ends.
func (s Scrubber) EndAll(ctx context.Context) error {
	for {
		kerr := s.killByKernel()
		left, err := s.left()
		if err := errors.Join(kerr, err, process.KillAll(left...)); err != nil || len(left) == 0 {
			return err
		}
		t := s.Clock.NewTimer(haltPause)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C():
		}
	}
}
