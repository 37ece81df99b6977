package reconciler

import (
	"context"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A registration for one job is used up with it. The next one is made while the job runs, so that the agent that asks for it need not
// wait for GitHub. It is known to this process alone until then: the job's machine may read the record, and a leader that takes over
// does without. One that a job outlasts was made, and is deleted, for nothing: once for a machine in a run, whose jobs are alike.
const (
	preparedWithin  = time.Minute       // of the job's beginning, by the agent's clock, or not at all
	preparedLife    = 100 * time.Second // GitHub removes a runner made just in time that idles for 2 to 6 minutes (docs/github.md)
	preparedPerHour = 500               // a tenth of the calls that GitHub grants a token (docs/goals.md#github)
)

// PreparedFor is how long after the beginning of a job there may be a runner at GitHub that no record names.
const PreparedFor = preparedWithin + preparedLife

// newPreparing is the budget of all machines for them.
func newPreparing() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(preparedPerHour/time.Hour.Seconds()), preparedPerHour/10)
}

// prepare makes the next registration of an instance whose job has just begun, once, and deletes one that is not asked for in time. It
// says when to look again.
func (c *instances) prepare(ctx context.Context, s snapshot) Result {
	now := c.clock.Now()
	if s.reg.next.Serial > 0 {
		if usable(s, now) {
			return wakeAt(s.reg.next.MintedAt.Add(preparedLife), now)
		}
		c.cache.instances.with(s.ID, func(in *instance) { in.reg.outlasted = in.reg.next.Assignment })
		c.runners.dropPrepared(ctx, s.ID)
		return Result{}
	}
	began := s.vitals.beat.Beat.JobBegan
	due := c.cfg.Registration == store.JIT && s.State == statemachine.Running && s.report() == statemachine.Online && s.serving() &&
		s.reg.preparedAt < s.Registration.Serial && s.reg.outlasted != s.Assignment && !began.IsZero() && now.Sub(began.Time) < preparedWithin
	covered := s.reg.allowance.wait(now) <= 0 && !s.reg.allowance.over
	if due && covered && c.cache.requests.alive(s.RunID, s.Attempt) && !c.cache.extra(s) && !c.ahead.claimsOnly(now) && c.runners.preparing.AllowN(now, 1) {
		c.runners.prepare(ctx, s)
	}
	return Result{}
}

// usable reports whether the registration that was prepared for an instance can be its next one.
func usable(s snapshot, now time.Time) bool {
	next := s.reg.next
	return next.Serial > s.Registration.Serial && next.Assignment == s.Assignment && now.Before(next.MintedAt.Add(preparedLife))
}

// isPrepared reports whether a runner's name is that of an instance's next registration.
func isPrepared(s snapshot, name string) bool {
	return strings.EqualFold(name, s.reg.next.Name) && s.reg.next.Assignment == s.Assignment
}

// prepare asks GitHub for an instance's next registration. Should there be none, it is asked for when the agent needs it.
func (g *runners) prepare(ctx context.Context, s snapshot) {
	if !g.beginRequest(s.ID) {
		return
	}
	reg, err := g.request(ctx, s, string(s.RunID))
	reg.Assignment, reg.MintedAt = s.Assignment, store.At(g.clock.Now())
	g.cache.instances.with(s.ID, func(in *instance) {
		in.reg.preparedAt = s.Registration.Serial
		if err == nil {
			in.reg.next = reg
		}
	})
	g.endRequest(s.ID, s.reg.githubDown)
	if err != nil {
		g.log.Info("the next registration could not be made ahead", logkey.InstanceID, s.ID, logkey.RequestID, s.RunID, logkey.Error, err)
	}
	g.queues.instances.Add(s.ID) // its agent may have asked meanwhile
}

// takePrepared returns the registration that was prepared for an instance, which is the caller's from now on; false if there is none
// that is of use.
func (g *runners) takePrepared(ctx context.Context, s snapshot) (store.Registration, bool) {
	s.reg.next = g.forgetPrepared(s.ID)
	if usable(s, g.clock.Now()) {
		return s.reg.next, true
	}
	g.discard(ctx, s.reg.next)
	return store.Registration{}, false
}

// dropPrepared deletes the runner of a registration that was prepared and is not needed.
func (g *runners) dropPrepared(ctx context.Context, id store.InstanceID) {
	g.discard(ctx, g.forgetPrepared(id))
}

// forgetPrepared gives the registration that was prepared to the caller alone; the zero one if there is none.
func (g *runners) forgetPrepared(id store.InstanceID) (reg store.Registration) {
	g.cache.instances.with(id, func(in *instance) { reg, in.reg.next = in.reg.next, store.Registration{} })
	return reg
}
