//go:build unix

package procfleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
)

// quietLooks is how many looks at all processes in a row, hurryPeriod apart, must find none of a
// machine before it is Ended: one misses a process that is forked during it.
const quietLooks = 3

// Pauses after a step that failed, such as a folder that cannot be deleted.
const (
	retryFirst = 100 * time.Millisecond
	retryMax   = time.Minute
)

// runner is what one call of Run remembers. All of it may be lost.
type runner struct {
	*Fleet
	children   map[int]string // pids that are ours to reap, with their machine
	emptyLooks map[string]int // looks in a row that found no process of a machine
	retries    map[string]*retry
	tidyAt     time.Time
}

type retry struct {
	pause *backoff.ExponentialBackOff
	at    time.Time
}

// Run carries out what Launch, Terminate and time ask for: it starts, interrupts and ends machines,
// sees the ends of those that ended by themselves, of this process or an earlier one, and reaps
// those that this call started. It returns nil when ctx ends or the fleet is closed; the machines
// live on. What fails is logged and tried again.
func (f *Fleet) Run(ctx context.Context) error {
	r := newRunner(f)
	for {
		wake, err := r.look(ctx)
		if f.usable(ctx) != nil {
			return nil //nolint:nilerr // stopping: whatever failed, failed for that
		}
		now := f.clock.Now()
		if err != nil {
			f.log.Warn("looking at the machines failed; it is tried again", logkey.Error, err)
			wake = now.Add(watchPeriod)
		}
		select {
		case <-f.clock.After(max(wake.Sub(now), 0)):
		case <-f.wake:
		case <-f.closed:
		case <-ctx.Done():
		}
	}
}

func newRunner(f *Fleet) *runner {
	return &runner{
		Fleet: f, children: make(map[int]string), emptyLooks: make(map[string]int), retries: make(map[string]*retry),
	}
}

// look does what is due for every machine and returns when to look again. The lock is held
// throughout: two processes in Run take turns.
func (r *runner) look(ctx context.Context) (wake time.Time, err error) {
	unlock, err := r.disk.lock(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r.reap()
	now := r.clock.Now().UTC()
	if err := r.tidy(now); err != nil {
		r.log.Warn("what ended machines left could not be removed", logkey.Error, err)
	}
	all, err := r.disk.all(now)
	if err != nil {
		return time.Time{}, err
	}
	wake = now.Add(watchPeriod)
	marks := sync.OnceValues(func() (map[string][]process.Ref, error) { return process.Marked(EnvInstance) })
	for _, m := range all {
		at, err := r.turn(m, marks)
		if err != nil {
			at = r.failed(m.ID)
			r.log.Warn("the next step of a machine failed; it is tried again", logkey.InstanceID, m.ID, logkey.State, string(m.State), logkey.Error, err)
		}
		wake = earliest(wake, at)
	}
	return wake, nil
}

// turn takes the steps of one machine until none is due, and returns when to look again.
func (r *runner) turn(m record, marks scan) (time.Time, error) {
	if again := r.retries[m.ID]; again != nil && r.clock.Now().Before(again.at) {
		return again.at, nil
	}
	for {
		s, err := r.see(m)
		if err != nil {
			return time.Time{}, err
		}
		now := r.clock.Now().UTC()
		what, wake := decide(m, s, now)
		if what == stepNone {
			delete(r.retries, m.ID)
			return wake, nil
		}
		next, err := r.take(what, m, now, marks)
		if err != nil {
			return time.Time{}, fmt.Errorf("%s: %w", what, err)
		}
		switch what { //nolint:exhaustive // the others are followed by the next look
		case stepSpawn: // a process needs a moment to become the agent, or to end
			return hurry(m.BootAt, now), nil
		case stepKill:
			return hurry(m.EndingAt, now), nil
		case stepRemove:
			delete(r.retries, m.ID)
			delete(r.emptyLooks, m.ID)
			return now.Add(watchPeriod), nil
		}
		m = next
	}
}

func (r *runner) see(m record) (sight, error) {
	if m.State == fleet.Ended {
		return sight{}, nil
	}
	// The leader first: one that ends after it was let go has left the mark by then.
	s := sight{leader: r.leaderAlive(m)}
	if m.State != fleet.Starting {
		return s, nil
	}
	var err error
	s.started, err = r.disk.started(m.ID)
	return s, err
}

// take takes one step and returns the machine after it, saved.
func (r *runner) take(what step, m record, now time.Time, marks scan) (record, error) {
	was := m.State
	switch what {
	case stepNone:
		return m, nil
	case stepSpawn:
		return r.spawn(m)
	case stepArrive:
		m.State = fleet.Up
	case stepNotify:
		m.EndAt = now.Add(r.opts.NoticeLead)
		if err := r.disk.notify(m.ID, Notice{Action: "terminate", Time: m.EndAt}); err != nil {
			return m, err
		}
		r.failpoint("notice written")
	case stepInterrupt:
		m.end(causeInterrupted, now)
	case stepVanish:
		m.end(causeVanished, now)
		m.KillAt = now
	case stepExit:
		m.end(causeExited, now)
	case stepStop:
		m.KillAt = now.Add(r.opts.TerminateGrace)
		if err := r.stop(m); err != nil {
			return m, err
		}
		r.failpoint("stopped")
	case stepKill:
		return r.kill(m, now, marks)
	case stepRemove:
		return m, r.remove(m, marks)
	}
	if err := r.disk.save(m); err != nil {
		return m, err
	}
	r.failpoint(string(what))
	if m.State != was {
		r.logState(m)
	}
	if what == stepInterrupt || what == stepVanish || what == stepExit {
		signal(r.ended)
	}
	return m, nil
}

// stop sends SIGTERM to the leader, if it is the recorded one and still there.
func (r *runner) stop(m record) error {
	if !r.leaderAlive(m) {
		return nil
	}
	err := process.Signal(m.Leader, syscall.SIGTERM)
	if errors.Is(err, process.ErrNotFound) {
		return nil
	}
	return err
}

// kill kills what is left. Only looks that found nothing make the machine Ended.
func (r *runner) kill(m record, now time.Time, marks scan) (record, error) {
	all, err := marks()
	if err != nil {
		return m, err
	}
	found := all[m.ID]
	if r.leaderAlive(m) {
		found = append(slices.Clone(found), m.Leader) // known by its record, whatever its environment
	}
	swept, err := boundary.Sweep(m.ID, r.disk.folder(m.ID))
	if err != nil || !swept || len(found) > 0 {
		r.emptyLooks[m.ID] = 0
		return m, errors.Join(err, process.KillAll(found...))
	}
	if r.emptyLooks[m.ID]++; r.emptyLooks[m.ID] < quietLooks {
		return m, nil
	}
	delete(r.emptyLooks, m.ID)
	r.keepLog(m, now)
	m.State, m.EndedAt = fleet.Ended, now
	if err := r.disk.save(m); err != nil {
		return m, err
	}
	r.failpoint("ended")
	r.logState(m)
	return m, nil
}

// failed notes a failed step and returns when the machine's turn comes again.
func (r *runner) failed(id string) time.Time {
	again := r.retries[id]
	if again == nil {
		again = &retry{pause: backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryFirst),
			backoff.WithMaxInterval(retryMax), backoff.WithMaxElapsedTime(0))}
		r.retries[id] = again
	}
	again.at = r.clock.Now().Add(again.pause.NextBackOff())
	return again.at
}

// reap takes the status of ended children, so that no zombie stays.
func (r *runner) reap() {
	for pid, id := range r.children {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && got == 0: // it runs
		case err != nil: // another process waited for it
			delete(r.children, pid)
			r.log.Warn("the status of an ended process could not be collected", logkey.InstanceID, id, logkey.PID, pid, logkey.Error, err)
		default:
			delete(r.children, pid)
			r.log.Debug("process ended", logkey.InstanceID, id, logkey.PID, pid, logkey.Exit, exitCode(status))
		}
	}
}

// exitCode is what a shell shows: 128 and the signal for a process that was killed.
func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

// scan is one look at all processes, by machine, taken when the first machine needs it.
type scan func() (map[string][]process.Ref, error)
