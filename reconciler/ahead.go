package reconciler

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// IdleLabel begins the labels of listeners that are online ahead. What follows are 128 random bits: no workflow can name
// one, unless it may list the runners.
const IdleLabel = "idle-"

func idleLabel() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // which never fails
	return IdleLabel + hex.EncodeToString(bits[:])
}

// The budget of listening ahead: GitHub removes a listener that waits for a job after 2 to 6 minutes, so that each machine is
// registered some ten times an hour, and none more often than every aheadPause, whatever its agent asks for.
const (
	aheadPerHour = 10
	aheadPause   = time.Minute
)

// noRunner is the runner state that an agent without a listener reports.
const noRunner = "none"

// aheadOn reports whether idle machines are to listen.
func (c Config) aheadOn() bool { return c.Ahead > 0 && c.Registration == store.JIT }

// ahead keeps idle machines listening, so that a claim takes one call of GitHub instead of a registration (ADR 0029).
type ahead struct {
	*tenure
	cache   *cache
	runners *runners
	outages *outages
	calls   func() store.GitHubBudget
	budget  *rate.Limiter

	mu    sync.Mutex
	have  map[store.InstanceID]bool      // at most Config.Ahead that listen, or are to
	short map[store.InstanceID]time.Time // those that there is no place for, with their thresholds
}

func newAhead(t *tenure, c *cache, g *runners, down *outages, calls func() store.GitHubBudget) *ahead {
	perHour := t.cfg.Ahead * aheadPerHour
	return &ahead{
		tenure: t, cache: c, runners: g, outages: down, calls: calls, budget: rate.NewLimiter(rate.Limit(float64(perHour)/time.Hour.Seconds()), perHour),
		have: map[store.InstanceID]bool{}, short: map[store.InstanceID]time.Time{},
	}
}

// keep gives a pooled instance the registration that it may listen under, and says when to look again.
func (a *ahead) keep(ctx context.Context, s snapshot) (Result, error) {
	if !a.cfg.aheadOn() {
		return Result{}, nil
	}
	now := a.clock.Now()
	if s.State != statemachine.Idle || s.PooledAt.IsZero() {
		a.leave(s.ID)
		return Result{}, nil
	}
	if s.Ahead() && !s.wantsNext() {
		if ignoresAhead(s, now) {
			a.leave(s.ID) // another instance may listen in its place
			return Result{}, nil
		}
		a.join(s.ID)
		res := Result{}
		if at := s.Registration.MintedAt.Add(aheadPause); now.Before(at) && s.vitals.beat.Beat.Runner == noRunner {
			res = wakeAt(at, now) // the agent may ignore the registration
		}
		return res, a.clear(ctx, s)
	}
	if _, claimable := a.cache.index.candidate(s); !claimable || s.busy() || unknownKey(s) {
		a.pass(s.ID)
		return Result{}, nil
	}
	if !a.take(s) {
		return Result{}, nil
	}
	if at := s.Registration.MintedAt.Add(aheadPause); s.Ahead() && now.Before(at) {
		return wakeAt(at, now), nil
	}
	if a.claimsOnly(now) {
		return Result{After: a.cfg.WarmPoll}, nil
	}
	turn := a.budget.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		turn.CancelAt(now)
		return Result{}.sooner(wait), nil
	}
	return Result{}, a.register(ctx, s)
}

// ignoresAhead reports whether an agent has ignored its registration for so long that its version does not support pre-registration. If
// GitHub keeps a listener offline, the agent still reports the listener.
func ignoresAhead(s snapshot, now time.Time) bool {
	return s.vitals.beat.Beat.Runner == noRunner && !now.Before(s.Registration.MintedAt.Add(aheadPause))
}

// claimsOnly reports whether the calls that GitHub still takes are for claims: it does not serve all, or less than a tenth of the
// hour's are left.
func (a *ahead) claimsOnly(now time.Time) bool {
	_, down := a.outages.of(serviceGitHub)
	left := a.calls()
	return down || left.Remaining*10 < left.Limit && now.Before(left.ResetAt.Time)
}

// join gives an instance a place that has a registration, whatever the bound is by now.
func (a *ahead) join(id store.InstanceID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.have[id] = true
	delete(a.short, id)
}

// take reports whether an instance has a place, or gets one.
func (a *ahead) take(s snapshot) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.have[s.ID] && len(a.have) >= a.cfg.Ahead {
		a.short[s.ID] = s.Threshold.Time
		return false
	}
	a.have[s.ID] = true
	delete(a.short, s.ID)
	return true
}

// leave frees the place of an instance, if the instance has one.
func (a *ahead) leave(id store.InstanceID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.have, id)
	a.passOn(id)
}

// pass removes an instance that cannot listen now from the waiting instances. An instance that has a place keeps the place.
func (a *ahead) pass(id store.InstanceID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passOn(id)
}

// passOn wakes the waiting instance with the earliest deadline, if a place is free. An instance that cannot use the place calls pass. a.mu
// must be held.
func (a *ahead) passOn(id store.InstanceID) {
	delete(a.short, id)
	if len(a.have) >= a.cfg.Ahead {
		return
	}
	var next store.InstanceID
	for other, at := range a.short {
		if next == "" || at.Before(a.short[next]) || at.Equal(a.short[next]) && other < next {
			next = other
		}
	}
	if next != "" {
		a.queues.instances.Add(next)
	}
}

// clear takes the secret out of the record once the listener is online with it.
func (a *ahead) clear(ctx context.Context, s snapshot) error {
	if s.Registration.Secret == "" || !s.vitals.beat.Beat.ListensFor(&s.Instance) {
		return nil
	}
	_, err := a.cache.write(ctx, s.ID, func(cur snapshot) (store.Instance, error) {
		if cur.Registration != s.Registration {
			return cur.Instance, errStale
		}
		used := cur.Registration
		used.Secret = ""
		return a.cache.store.SetRegistration(ctx, cur.Instance, used, a.clock.Now())
	})
	return ignoreStale(err)
}

// register makes a registration for an idle instance. That GitHub does not give one now is nobody's problem.
func (a *ahead) register(ctx context.Context, s snapshot) error {
	if !a.runners.beginRequest(s.ID) {
		return nil // the one who makes one wakes the instance
	}
	defer a.runners.endRequest(s.ID, false)
	if cur, _ := a.cache.instances.get(s.ID); cur.Version != s.Version {
		a.queues.instances.Add(s.ID)
		return nil
	}
	reg, again := undelivered(s)
	if !again {
		var err error
		if reg, err = a.runners.request(ctx, s, idleLabel()); err != nil {
			return err
		}
		reg.Ahead = true
	}
	return a.runners.deliver(ctx, s.ID, "", s.Assignment, reg)
}

// awaitsAhead reports whether the instance has a registration to wait for a run under.
func awaitsAhead(s snapshot) bool { return s.State == statemachine.Idle && s.Ahead() }

// listensAhead reports whether the idle instance has a listener online that a run can have.
func listensAhead(s snapshot) bool {
	return awaitsAhead(s) && s.vitals.beat.Beat.ListensFor(&s.Instance) && s.vitals.fresh && !s.busy() && !s.wantsNext()
}

// onlineAhead reports whether a claimed instance's listener, which was online ahead, is online under the request's label. Its
// agent need not know yet.
func onlineAhead(s snapshot) bool {
	return s.State == statemachine.Claimed && labelled(s) && s.vitals.beat.Beat.ListensFor(&s.Instance) && s.report() == statemachine.NoReport
}

// labelled reports whether the runner that was registered ahead has the label of the run that claimed it.
func labelled(s snapshot) bool {
	return s.Ahead() && s.reg.labelled == s.Registration.Serial
}

// lacksLabel reports whether no job of the request that claimed an instance may reach its listener, which was online ahead:
// what its agent says of that is true, and not enough.
func lacksLabel(s snapshot) bool {
	return s.State == statemachine.Claimed && s.Ahead() && s.reg.labelled != s.Registration.Serial
}

// unconfirmed reports whether the instance serves a run, or is about to, of which its agent has not said a word.
func unconfirmed(s snapshot) bool {
	serves := s.State == statemachine.Running && s.Ahead() || s.State == statemachine.Claimed && labelled(s)
	return serves && s.report() == statemachine.NoReport && s.vitals.beat.Beat.Assignment != s.Assignment
}

// provideAhead sees to the label of a claimed instance that listened ahead, and does without its listener where that cannot
// have it, or is no longer online. A leader that does not know whether it has the label adds it again.
func (g *runners) provideAhead(ctx context.Context, s snapshot) error {
	serial := s.Registration.Serial
	if s.reg.labelled != serial && s.reg.unlabelled != serial {
		if !g.beginRequest(s.ID) {
			return nil
		}
		err := g.label(ctx, s)
		g.endRequest(s.ID, err != nil)
		if s, _ = g.cache.instances.get(s.ID); s.Registration.Serial != serial || s.reg.unlabelled != serial {
			return err
		}
	}
	if s.reg.unlabelled == serial || s.report() == statemachine.NoReport && !s.vitals.beat.Beat.ListensFor(&s.Instance) {
		return g.replaceAhead(ctx, s)
	}
	return nil
}

// label gives the runner of a claimed instance the label of its request. An error says that another registration is needed, if
// the instance is marked so, or that it is to be tried again.
func (g *runners) label(ctx context.Context, s snapshot) error {
	err := g.github.AddLabel(ctx, s.Registration.RunnerID, string(s.RunID))
	again := errors.Is(err, githubapi.ErrThrottled) || errors.Is(err, store.ErrNotLeader) || ctx.Err() != nil
	switch {
	case err == nil:
		g.hasLabel(s)
		return nil
	case !again: // GitHub may have added it all the same
		g.cache.instances.with(s.ID, func(in *instance) { in.reg.unlabelled = s.Registration.Serial })
		g.log.Info("a listener could not be given its run's label; its machine is registered anew", logkey.InstanceID, s.ID,
			logkey.RequestID, s.RunID, logkey.Error, err)
	}
	g.cache.requests.withRun(s.RunID, func(r *run) { r.lastProblem = err.Error() })
	return fmt.Errorf("label %s: %w", s.ID, err)
}

// hasLabel notes that the runner of an instance has its request's label.
func (g *runners) hasLabel(s snapshot) {
	now := g.clock.Now()
	g.cache.instances.with(s.ID, func(in *instance) {
		in.reg.labelled, in.reg.unlabelled = s.Registration.Serial, 0
		in.noteOnce(store.CodeLabelled, "", now)
	})
	g.queues.requests.Add(s.RunID)
}

// replaceAhead registers a claimed instance anew whose listener is of no use for its run. The runner goes first: it may have
// the label though GitHub has not said so, and even a job of the run, which is as good as the label.
func (g *runners) replaceAhead(ctx context.Context, s snapshot) error {
	switch err := g.github.DeleteRunner(ctx, s.Registration.RunnerID); {
	case errors.Is(err, githubapi.ErrBusy) && s.vitals.beat.Beat.ListensFor(&s.Instance):
		g.hasLabel(s)
		return nil
	case errors.Is(err, githubapi.ErrBusy): // its agent knows better, or the sweep deletes it
	case err != nil:
		g.cache.instances.with(s.ID, func(in *instance) { in.reg.githubDown = true })
		return fmt.Errorf("replace runner of %s: %w", s.ID, err)
	}
	return g.register(ctx, s)
}
