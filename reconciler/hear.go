package reconciler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// hear reads the vitals of instances in one batch and wakes what changed.
func (t *term) hear(ctx context.Context, ids []store.InstanceID) error {
	if len(ids) == 0 {
		return nil
	}
	principals := make([]store.Principal, 0, len(ids))
	mark := func(unheard bool) {
		for _, id := range ids {
			t.view.with(id, func(in *instance) { in.unheard = unheard })
		}
	}
	mark(false) // before the read: a ring that comes meanwhile marks it again
	for _, id := range ids {
		if s, ok := t.view.get(id); ok {
			principals = append(principals, s.Principal)
		}
	}
	got, err := t.store.Vitals(ctx, t.badRecord, principals...)
	if err != nil {
		mark(true)
		return fmt.Errorf("hear %d instances: %w", len(ids), err)
	}
	now := t.clock.Now()
	for _, id := range ids {
		changed, run := false, store.RequestID("")
		t.view.with(id, func(in *instance) {
			changed = in.hear(got[in.record.Principal], now, t.cfg.Limits.Window())
			if in.watched {
				run = in.record.RunID
			}
		})
		if !changed {
			continue
		}
		t.instances.add(id)
		if run != "" {
			t.requests.add(run)
		}
	}
	return nil
}

// hot reports whether something waits for what this instance says next.
func (in *instance) hot() bool {
	switch in.record.State {
	case statemachine.Created, statemachine.Claimed:
		return true
	case statemachine.Idle:
		return in.record.PooledAt.IsZero()
	case statemachine.Running:
		return in.watched
	case statemachine.Terminated, statemachine.None:
	}
	return false
}

// poll reads the vitals of hot instances every HotPoll and of all others every WarmPoll: the safety
// net under the rings.
func (t *term) poll(ctx context.Context) error {
	ticker := t.clock.NewTicker(t.cfg.HotPoll)
	defer ticker.Stop()
	var warm time.Time
	for {
		now := t.clock.Now()
		all := now.Sub(warm) >= t.cfg.WarmPoll
		var ids []store.InstanceID
		t.view.eachAlive(func(in *instance) {
			if all || in.hot() {
				ids = append(ids, in.record.ID)
			}
		})
		slices.Sort(ids) // a map has no order; with one, the same events have the same consequences
		if err := t.hear(ctx, ids); err != nil {
			t.log.Warn("poll", logkey.Error, err)
		} else if all {
			warm = now
		}
		t.feelBrake(t.clock.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// The brake: so many instances going silent within so short a time, and so large a part of all, is
// our outage and not theirs.
const (
	brakeCount  = 3 // more than
	brakeShare  = 3 // more than one in
	brakeWindow = time.Minute
)

// Braked reports whether n of live instances, gone or silent at once, are too many to be given up.
func Braked(n, live int) bool { return n > brakeCount && n*brakeShare > live }

// feelBrake puts the brake on, or takes it off once most are heard again. While it is on nothing is
// lost or swept; what really is dead ends by its threshold.
func (t *term) feelBrake(now time.Time) {
	live, stale, lately := 0, 0, 0
	t.view.eachAlive(func(in *instance) {
		live++
		if in.vitals.staleAt.IsZero() {
			return
		}
		stale++
		if now.Sub(in.vitals.staleAt) <= brakeWindow {
			lately++
		}
	})
	was := t.braked()
	on := Braked(lately, live) || was && Braked(stale, live)
	t.view.mu.Lock()
	t.view.brake = on
	t.view.mu.Unlock()
	switch {
	case on && !was:
		t.log.Error("too many instances went silent at once: nothing is given up until they are heard again", logkey.Count, stale)
	case was && !on:
		t.log.Info("instances are heard again", logkey.Count, live-stale)
	}
}

func (t *term) braked() bool {
	t.view.mu.RLock()
	defer t.view.mu.RUnlock()
	return t.view.brake
}
