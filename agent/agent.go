// Package agent is the authority on one machine: it runs the operator's script, registers the
// runner its record asks for, drains and cleans up after it, reports, and powers the machine off
// when its time is over.
//
// It is level-based: it reads its own record, compares it with the machine, acts and reports; it
// never needs a push, and it may be killed and started again at any point. Heartbeat and dead-man
// timer run in goroutines of their own, so that nothing that may block, neither script nor runner
// nor store, can stop them. See docs/architecture.md#agent.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/logkey"
)

// EnvMarker marks every process that belongs to an instance: the agent, its script, the runner and
// its jobs. The value is the instance id.
const EnvMarker = "REMUDA_INSTANCE_ID"

// ErrHalted says that Run ended because the machine was told to power off.
var ErrHalted = errors.New("agent: machine halted")

// haltWait is how long Run waits for its own goroutines once the machine is told to halt. One that
// hangs must not keep the process alive.
const haltWait = 5 * time.Second

// Agent is one agent.
type Agent struct {
	o       *Options // its own
	log     *slog.Logger
	disk    *disk
	expiry  *expiry
	outbox  *outbox
	deadman *deadman
	watch   *watch
	heart   *heart
	keeper  *keeper
	worker  *worker

	confirmer *confirmer
}

// New returns an agent. It starts nothing, reads the state an earlier one left in o.Dir, and sets a
// state that cannot be read aside: an agent without memory is safer than none.
func New(o Options) (*Agent, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("configure agent: %w", err)
	}
	log := o.Log.With(logkey.InstanceID, o.InstanceID)
	d, err := openDisk(filepath.Join(o.Dir, stateFile), log)
	if err != nil {
		return nil, err
	}
	key, err := openKey(o.Dir, log)
	if err != nil {
		return nil, err
	}
	a := &Agent{o: &o, log: log, disk: d, outbox: &outbox{clock: o.Clock, log: log, mask: o.Mask, kick: make(chan struct{}, 1)}}
	a.expiry = &expiry{offset: o.Offset, grace: o.Grace, changed: make(chan struct{}, 1)}
	a.keeper = &keeper{clock: o.Clock, log: log, keep: o.KeepOutput, turn: make(chan struct{}, 1)}
	a.heart = &heart{o: a.o, log: log, disk: d, key: key.Public(), keeper: a.keeper, now: make(chan struct{}, 1), first: make(chan struct{})}
	a.deadman = &deadman{
		clock: o.Clock, log: log, grace: o.Grace, machine: o.Machine, expiry: a.expiry, listener: a.heart.current, keeper: a.keeper,
		armed: make(chan struct{}), orders: make(chan string, 1), off: make(chan struct{}),
	}
	a.watch = &watch{
		o: a.o, log: log, disk: d, expiry: a.expiry, deadman: a.deadman, changed: make(chan struct{}, 1), now: make(chan struct{}, 1),
	}
	a.watch.hurry(assignment)
	a.heart.watch = a.watch
	a.confirmer = &confirmer{o: a.o, log: log, disk: d, watch: a.watch, turn: make(chan struct{}, 1), opened: make(chan struct{})}
	a.worker = &worker{
		o: a.o, log: log, disk: d, key: key, outbox: a.outbox, deadman: a.deadman, watch: a.watch, heart: a.heart, keeper: a.keeper,
		confirmer: a.confirmer, pause: newPause(),
	}
	return a, nil
}

// Run works until ctx ends, and then returns nil and leaves a live listener to the next agent; or
// until the machine is halted, and then returns an error that wraps ErrHalted. All it started has
// ended then, except what still hangs haltWait after the machine was halted.
func (a *Agent) Run(ctx context.Context) error {
	a.begin()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.deadman.run(ctx) }) // before any user code (H03)
	g.Go(func() error { a.takeOver(ctx); return nil })
	g.Go(func() error { a.heart.interrupts(ctx); return nil })
	g.Go(func() error {
		if !a.connect(ctx) {
			return nil
		}
		g.Go(func() error { a.heart.run(ctx); return nil })
		g.Go(func() error { a.outbox.run(ctx); return nil })
		g.Go(func() error { a.watch.run(ctx); return nil })
		g.Go(func() error { a.prefetch(ctx); return nil })
		g.Go(func() error { a.confirmer.serve(ctx); return nil })
		a.worker.run(ctx)
		return nil
	})
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	select {
	case err := <-done:
		if err == nil {
			a.keeper.now("the agent was told to stop")
		}
		return err
	case <-a.deadman.off:
	}
	select {
	case err := <-done:
		return err
	case <-a.o.Clock.After(haltWait):
		a.log.Error("the machine was halted while a part of the agent did not end")
		return ErrHalted
	}
}

// poke fills a channel of capacity one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
