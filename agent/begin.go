package agent

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// connectLimit bounds one call of Options.Connect and of Options.TakeOver.
const connectLimit = 30 * time.Second

// begin takes up what an earlier agent of this machine left.
func (a *Agent) begin() {
	now := a.o.Clock.Now()
	boot, err := process.BootID()
	if err != nil {
		a.log.Error("processes of an earlier agent cannot be identified", logkey.Error, err)
	}
	a.disk.save(func(s *State) {
		if s.StartedAt.IsZero() {
			s.StartedAt = store.At(now)
		}
		if s.Boot != boot || err != nil {
			s.Boot, s.Work.Listener, s.Work.Boundary = boot, process.Ref{}, ""
		}
	})
	s := a.disk.get()
	a.expiry.boot(s.StartedAt.Add(a.o.BootDeadline), s.StartedAt.Time, now)
	if !s.Threshold.IsZero() {
		a.expiry.learn(s.Threshold.Time, s.ReadAt.Time, now)
	}
	if s.Report.Signal != "" { // its writer may have died before it was delivered
		a.outbox.post(s.Report, false)
		a.outbox.markUnconfirmed() // and an older one may be on its way
	}
}

// takeOver ends what guarded the machine so far, now that the dead-man does.
func (a *Agent) takeOver(ctx context.Context) {
	if a.o.TakeOver != nil && await(ctx, a.deadman.armed) && a.insist(ctx, "take the machine over", a.o.TakeOver) {
		a.log.Info("machine taken over")
	}
}

// connect finds store and principal. It returns false if ctx ended first.
func (a *Agent) connect(ctx context.Context) bool {
	if a.o.Connect != nil && !a.insist(ctx, "connect to the store", func(ctx context.Context) error {
		s, p, err := a.o.Connect(ctx)
		if err == nil {
			a.o.Store, a.o.Principal = s, p
		}
		return err
	}) {
		return false
	}
	table := confirmingTable{a.o.Store.Table(), a.outbox}
	a.outbox.store, a.outbox.silent = store.New(table), store.New(silentTable{table})
	a.outbox.principal = a.o.Principal
	return true
}

// prefetch calls Options.Prefetch once the machine has reported.
func (a *Agent) prefetch(ctx context.Context) {
	if a.o.Prefetch != nil && await(ctx, a.heart.first) {
		a.o.Prefetch(ctx)
	}
}

// await waits until ready is closed. It returns false if ctx ended first.
func await(ctx context.Context, ready <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-ready:
		return true
	}
}

// insist calls try until it succeeds. It returns false if ctx ended first.
func (a *Agent) insist(ctx context.Context, what string, try func(context.Context) error) bool {
	once := func() error {
		ctx, cancel := context.WithTimeout(ctx, connectLimit)
		defer cancel()
		return try(ctx)
	}
	again := func(err error, wait time.Duration) {
		a.log.Warn("a step of the agent's start failed; it is tried again", logkey.Call, what, logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	return backoff.RetryNotify(once, backoff.WithContext(newPause(), ctx), again) == nil
}
