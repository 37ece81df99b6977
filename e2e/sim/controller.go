package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
)

// supervised is a program that is started again whenever it died, as systemd does.
type supervised struct {
	w    *World
	name string
	done chan struct{}
	proc *process // guarded by w.mu
	quit context.CancelFunc
}

// controller starts a controller that comes back seconds after every crash, with a clock that is off.
func (w *World) controller(name string) {
	ctx, quit := context.WithCancel(context.Background())
	s := &supervised{w: w, name: name, done: make(chan struct{}), quit: quit}
	w.controllers = append(w.controllers, s)
	go func() {
		defer close(s.done)
		for n := 1; ctx.Err() == nil; n++ {
			p := w.newProcess(Controller, fmt.Sprintf("%s.%d", name, n))
			w.mu.Lock()
			s.proc = p
			w.mu.Unlock()
			stop := context.AfterFunc(ctx, p.kill) // in order: it gives up the lease
			w.serve(p)
			stop()
			if ctx.Err() != nil {
				return
			}
			w.mu.Lock()
			w.restarts, w.restarted = w.restarts+1, w.clock.Now()
			w.mu.Unlock()
			pause := newKey(w.o.Seed, name, "restart", strconv.Itoa(n)).between(500*time.Millisecond, 3*time.Second)
			select {
			case <-ctx.Done():
			case <-w.clock.After(pause):
			}
		}
	}()
}

// lastRestart returns when a controller last died; zero: never.
func (w *World) lastRestart() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.restarted
}

// serve runs one controller until it dies or is stopped.
func (w *World) serve(p *process) {
	cfg := w.cfg
	cfg.Holder = p.name
	op, err := reconciler.New(reconciler.Options{
		Config: cfg, Table: tableGate{p, w.truth}, Pool: poolGate{p, w.pool}, Fleet: fleetGate{p, w.fleet}, GitHub: githubGate{p, w.hub},
		Clock: w.clockOf(p.name), Log: w.log.With(logkey.Holder, p.name),
	})
	if err == nil {
		err = op.Run(p.ctx)
	}
	if err != nil && p.ctx.Err() == nil {
		w.truth.violate("controller runs", "%s ended: %v", p.name, err)
	}
}

// stop ends the program in order.
func (s *supervised) stop() {
	s.quit()
	<-s.done
}

// skewed is a clock that shows another time and runs as fast.
type skewed struct {
	clock.WithTicker

	by time.Duration
}

func (c skewed) Now() time.Time                  { return c.WithTicker.Now().Add(c.by) }
func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// tick is what the clocks of two machines always differ by, at most: what one instant lets happen on both
// then has an order.
const tick = time.Millisecond

// clockOf returns the clock of a process: off by up to the script's skew, either way.
func (w *World) clockOf(name string) clock.WithTicker {
	return skewed{w.clock, newKey(w.o.Seed, name, "clock").between(-w.o.Skew-tick, w.o.Skew+tick)}
}
