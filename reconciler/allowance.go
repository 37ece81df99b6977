package reconciler

import (
	"context"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// The allowance of a machine. The holder of its role can sign for its agent and ask for one registration
// after the other, and all machines share what GitHub allows the installation: 1,500 registrations in five
// minutes. nextBurst covers a machine with bad luck; from then on one in nextEvery is 2 % of that budget.
// A machine whose jobs are shorter than nextEvery gets what it asks for, since GitHub shows that its
// runners are used up. After nextUnused that were not it ends.
const (
	nextBurst  = 5
	nextEvery  = 10 * time.Second
	nextUnused = 3
)

// reasonUnused is why a machine is rejected that asks again and again.
const reasonUnused = "asked for more registrations than it ran jobs"

// allowance is what one machine may ask for. Guarded by the lock of instanceRecords.
type allowance struct {
	full   time.Time // when it will not owe anything
	over   bool      // it asked for more, and GitHub is asked whether its runners ran jobs
	askAt  time.Time // when GitHub is asked next
	unused int       // registrations in a row beyond the allowance whose runner was left unused
}

// wait returns how long it takes until the next registration is covered.
func (a *allowance) wait(now time.Time) time.Duration {
	return later(a.full, now).Add(nextEvery).Sub(now) - nextBurst*nextEvery
}

// spend pays for a registration.
func (a *allowance) spend(now time.Time) { a.full = later(a.full, now).Add(nextEvery) }

// affords reports whether a machine that asks for its next registration gets it now. Otherwise it is looked
// at again, or ended.
func (c *instances) affords(ctx context.Context, s snapshot) (bool, error) {
	now := c.clock.Now()
	wait := s.reg.allowance.wait(now)
	if wait <= 0 && !s.reg.allowance.over {
		return true, nil
	}
	if left := s.reg.allowance.askAt.Sub(now); left > 0 { // its notifications must not become calls to GitHub
		c.queues.instances.AddAfter(s.ID, left)
		return false, nil
	}
	have := githubapi.Runner{}
	if s.Registration.Mode == store.JIT { // with a token one runner takes all jobs: there is nothing to show for the next
		var err error
		if have, err = c.runners.find(ctx, s.Registration.Name); err != nil {
			return false, err
		}
	}
	next := s.reg.allowance
	switch next.over, next.askAt = true, now.Add(max(wait, c.cfg.HotPoll)); {
	case s.Registration.Mode == store.JIT && have.ID == 0: // it ran its job, and GitHub has deleted it
		next = allowance{full: s.reg.allowance.full.Add(-nextEvery)}
	case have.Busy, wait > 0: // GitHub may be late to see that the job is over
	case next.unused+1 >= nextUnused:
		c.log.Warn("a machine asks for more registrations than it runs jobs", logkey.InstanceID, s.ID, logkey.Runner, s.Registration.Name)
		return false, c.apply(ctx, s, statemachine.Decision{Event: statemachine.Rejected, Reason: reasonUnused})
	default:
		next.over, next.askAt = false, time.Time{}
		next.unused++
	}
	c.cache.instances.with(s.ID, func(in *instance) { in.reg.allowance = next })
	if left := next.askAt.Sub(now); left > 0 {
		c.queues.instances.AddAfter(s.ID, left)
		return false, nil
	}
	return true, nil
}
