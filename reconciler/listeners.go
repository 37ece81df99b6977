package reconciler

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// listeners judges whose fault it is that a listener does not come online (ADR 0015).
type listeners struct {
	*tenure
	cache    *cache
	runners  *runners
	observer *observer
	probes   probes
}

// holdGate asks GitHub before a machine is given up because its listener is not online. A listener that GitHub does not
// answer cannot say so, since it still waits for the answer; but then GitHub hardly answers us. Until it does, and for
// one gate more, nothing is concluded about the machine (ADR 0011). Nor is it if a job of its run is on it.
func (l *listeners) holdGate(ctx context.Context, s snapshot) bool {
	online, err := l.runners.onlineAtGitHub(ctx, s)
	if online || s.serving() {
		return true
	}
	down := unanswered(err)
	if !down && !githubWasDown(s) {
		return false
	}
	now := l.clock.Now()
	l.cache.instances.with(s.ID, func(in *instance) { in.listener.githubDown, in.listener.githubDownAt = down, now })
	if down {
		l.cache.requests.withRun(s.RunID, func(r *run) { r.lastProblem = err.Error() })
	}
	return true
}

// unanswered reports whether an error says that GitHub did not answer a call.
func unanswered(err error) bool {
	return errors.Is(err, githubapi.ErrUnavailable) || errors.Is(err, githubapi.ErrLocal) || errors.Is(err, githubapi.ErrThrottled)
}

// judge says whose fault it is that a listener is offline, and when to look again.
func (l *listeners) judge(s snapshot, now time.Time) (verdict, time.Time) {
	tr, o := s.listener.offline, l.cache.instances.others(s.ID, now)
	if o.began.After(tr.first) {
		if tr.retriedAfterProof {
			return guilty, time.Time{}
		}
		return lastChance, time.Time{}
	}
	look := now.Add(probeLate) // a net: one that comes online wakes it
	if o.online.After(tr.at) {
		if at := tr.retriedAt.Add(probeLate); now.Before(at) {
			look = at
		} else {
			return another, time.Time{}
		}
	}
	if tr.refused {
		mine, at := l.probes.turn(s.ID, now)
		if mine {
			return another, time.Time{}
		}
		look = earlier(look, at)
	}
	if at, may := l.probes.mayReplace(o.served); may {
		// Where all others that began with it are online, one that says nothing needs no minute.
		due := later(later(tr.first, o.offlineAt), at).Add(alone)
		missed := !tr.refused && now.Equal(tr.first) && now.Sub(o.offlineAt) >= alone && o.online.After(s.Registration.MintedAt.Time)
		if missed || !now.Before(due) {
			return replace, time.Time{}
		}
		look = earlier(look, due)
	}
	return waits, look
}

// shown reports whether GitHub, too, says that the runner is online on which a judgement of id rests. A machine's role can
// say anything, and others must not end for it. Each registration is asked for once.
func (l *listeners) shown(ctx context.Context, id store.InstanceID, now time.Time) (bool, error) {
	by, known := l.cache.instances.get(l.cache.instances.others(id, now).by)
	if !known || by.listener.online.shown {
		return true, nil
	}
	have, err := l.runners.find(ctx, by.listener.online.name)
	if err != nil {
		return false, err
	}
	is := have.Online || have.Busy
	l.cache.instances.with(by.ID, func(in *instance) {
		if in.listener.online.serial == by.listener.online.serial {
			in.listener.online.shown, in.listener.online.denied = is, !is
		}
	})
	if !is {
		l.log.Warn("an agent reports its listener online and GitHub does not", logkey.InstanceID, by.ID, logkey.Runner, by.listener.online.name)
	}
	return is, nil
}

// reconcileOffline deals with an instance whose listener does not come online. It returns when to look again; done says that the instance has
// another registration, or an end, coming.
func (l *listeners) reconcileOffline(ctx context.Context, s snapshot, now time.Time) (_ Result, done bool, err error) {
	defer func() {
		if unanswered(err) { // the next judgment waits for one gate more, as in holdGate
			l.cache.instances.with(s.ID, func(in *instance) { in.listener.githubDown, in.listener.githubDownAt = true, l.clock.Now() })
		}
	}()
	if !l.cache.requests.alive(s.RunID, s.Attempt) || l.cache.extra(s) || l.cache.leaving(s) {
		return Result{}, false, nil // on its way back
	}
	v, look := l.judge(s, now)
	if v == lastChance || v == guilty || v == replace {
		if shown, err := l.shown(ctx, s.ID, now); !shown || err != nil {
			return Result{}.sooner(time.Millisecond), true, err // judged anew without
		}
	}
	switch v {
	case another, lastChance:
		if !s.listener.offline.refused {
			if listens, err := l.runners.onlineAtGitHub(ctx, s); listens || err != nil {
				return Result{}.sooner(probeSoon), true, err // its agent's word is on its way
			}
		}
		l.probes.note(s.ID, false, now)
		if err := l.runners.register(ctx, s); err != nil {
			return Result{}, true, err
		}
		if cur, _ := l.cache.instances.get(s.ID); cur.Registration.Serial <= s.Registration.Serial {
			return Result{}.sooner(steady), true, nil // something else happened to it meanwhile
		}
		l.cache.instances.with(s.ID, func(in *instance) {
			in.listener.offline.retriedAt, in.listener.offline.retriedAfterProof = now, in.listener.offline.retriedAfterProof || v == lastChance
		})
		if s.listener.offline.refused {
			l.runners.discard(ctx, s.Registration)
		}
		return Result{}.sooner(steady), true, nil
	case guilty, replace:
		if l.holdGate(ctx, s) {
			return Result{}.sooner(l.cfg.Limits.ClaimGate), true, nil
		}
		l.cache.instances.with(s.ID, func(in *instance) { in.listener.offline.machineFault, in.listener.offline.until = true, now })
		if v == replace {
			l.probes.replacing(now)
			l.cache.requests.withRun(s.RunID, func(r *run) { r.launching.spared++ })
		}
		l.log.Warn("a machine is given up: its listener does not come online", logkey.InstanceID, s.ID, logkey.RequestID, s.RunID,
			logkey.Cause, s.refusal(), logkey.Detail, s.vitals.signal.Value.Detail, logkey.Alone, v == replace)
		return Result{}, false, nil
	case waits:
	}
	return wakeAt(look, now), false, nil
}

// fails notes that the present registration of an instance failed; cause is "" if its listener is just late.
func (l *listeners) fails(s snapshot, cause string, now time.Time) {
	refused := cause != "" && cause != store.CauseSilent
	known := false
	l.cache.instances.with(s.ID, func(in *instance) {
		tr := &in.listener.offline
		switch {
		case tr.machineFault && tr.assignment == s.Assignment && tr.serial == s.Registration.Serial:
			known = true // and its end is being written
			return
		case !tr.of(in.record):
			*tr = offline{assignment: s.Assignment, first: now}
		case tr.serial == s.Registration.Serial && tr.refused == refused:
			known = true
			return
		}
		tr.serial, tr.at, tr.refused = s.Registration.Serial, now, refused
	})
	if known {
		return
	}
	l.queues.requests.Add(s.RunID)
	if refused { // one that says nothing says that it listens once it does
		l.cache.instances.distrustOnline.Store(true)
	}
	if !strings.HasPrefix(s.Registration.Name, l.runners.prefix(s.ID)) { // the leader of then may have replaced one
		l.probes.replacing(now)
	}
	if l.probes.note(s.ID, refused, now) {
		l.log.Warn("a listener does not come online; its machine is kept until another machine shows that GitHub serves",
			logkey.InstanceID, s.ID, logkey.RequestID, s.RunID, logkey.Cause, cause, logkey.Detail, s.vitals.signal.Value.Detail)
	}
}

// observeOnline follows a listener that is online, as long as others wait to learn from it, and says when to look again.
func (l *listeners) observeOnline(ctx context.Context, s snapshot, now time.Time) (Result, error) {
	troubled := l.probes.all()
	if len(troubled) == 0 && !l.cache.instances.distrustOnline.Load() {
		return Result{}, nil
	}
	for i, d := range []time.Duration{steady, settled} {
		if at := s.listener.online.from.Add(d); !s.onlineFor(d) {
			if now.Before(at) {
				return wakeAt(at, now), nil
			}
			return Result{}.sooner(time.Millisecond), l.observer.readReports(ctx, []store.InstanceID{s.ID})
		}
		if s.listener.online.answered > i {
			continue
		}
		l.cache.instances.with(s.ID, func(in *instance) { in.listener.online.answered = i + 1 })
		l.cache.instances.distrustOnline.Store(false)
		l.queues.requests.Add(s.RunID)
		for _, id := range troubled {
			l.queues.instances.Add(id)
		}
	}
	if !s.isOffline() {
		return Result{}, nil
	}
	l.cache.instances.with(s.ID, func(in *instance) { in.listener.offline.until = now })
	l.clearOffline(s.ID)
	return Result{}, nil
}

// clearOffline forgets that an instance's listener was offline.
func (l *listeners) clearOffline(id store.InstanceID) {
	if l.probes.drop(id) {
		l.log.Info("no listener is waited for any more to come online")
	}
}
