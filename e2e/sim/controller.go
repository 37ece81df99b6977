package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// supervised is a program that is started again whenever it died, as systemd does.
type supervised struct {
	w    *World
	name string
	done chan struct{}
	proc *process             // guarded by w.mu
	op   *reconciler.Operator // of proc; guarded by w.mu
	wait time.Duration        // somebody stopped it in order, until it is started again after so long; guarded by w.mu
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
			s.proc, s.wait = p, 0
			w.mu.Unlock()
			stop := context.AfterFunc(ctx, p.kill) // in order: it gives up the lease
			w.serve(s, p)
			stop()
			if ctx.Err() != nil {
				return
			}
			pause := newKey(w.o.Seed, name, "restart", strconv.Itoa(n)).between(500*time.Millisecond, 3*time.Second)
			w.mu.Lock()
			if w.restarted = w.clock.Now(); s.wait > 0 {
				pause = s.wait
			} else {
				w.restarts++
			}
			w.mu.Unlock()
			w.disturbances.note(pause, true)
			select {
			case <-ctx.Done():
			case <-w.clock.After(pause):
			}
		}
	}()
}

// config is that of controllers that start now.
func (w *World) config() reconciler.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cfg
}

// configure changes the configuration of controllers that start from now on.
func (w *World) configure(a config) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Largest > 0 {
		w.cfg.MaxInstances = a.Largest
	}
	w.cfg.Registration = cmp.Or(store.RegistrationMode(a.Mode), w.cfg.Registration)
	classes := maps.Clone(w.cfg.Classes)
	delete(classes, a.Without)
	w.cfg.Classes = classes
	w.configured = w.clock.Now()
}

// candidates are those of the controller that leads; nil: none does, or it has not looked yet.
func (w *World) candidates(leader string) map[store.InstanceID]bool {
	w.mu.Lock()
	var op *reconciler.Operator
	for _, s := range w.controllers {
		if s.proc != nil && s.proc.name == leader && s.proc.alive() {
			op = s.op
		}
	}
	w.mu.Unlock() // it reads its clock, which asks the world
	if op == nil {
		return nil
	}
	return op.Candidates()
}

// lastRestart returns when a controller last died; zero: never.
func (w *World) lastRestart() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.restarted
}

// serve runs one controller until it dies or is stopped.
func (w *World) serve(s *supervised, p *process) {
	cfg := w.config()
	cfg.Holder = p.name
	op, err := reconciler.New(reconciler.Options{
		Config: cfg, Table: tableGate{p, w.truth}, Pool: poolGate{p, w.pool}, Fleet: fleetGate{p, w.fleet}, GitHub: githubGate{p, w.hub},
		Clock: p.clk, Offset: p.storeTime(), Log: w.log.With(logkey.Holder, p.name),
	})
	w.mu.Lock()
	s.op = op
	w.mu.Unlock()
	if err == nil {
		err = op.Run(p.ctx)
	}
	if err != nil && p.ctx.Err() == nil {
		w.truth.violate("controller runs", "%s ended: %v", p.name, err)
	}
}

// rest ends the program in order; it is started again after d.
func (s *supervised) rest(d time.Duration) {
	s.w.mu.Lock()
	p := s.proc
	if p != nil {
		s.wait = d
	}
	s.w.mu.Unlock()
	s.w.disturbances.note(d, true)
	if p != nil && p.alive() {
		s.w.transcript.tellf("%s is stopped", p.name)
		p.kill()
	}
}

// stop ends the program in order.
func (s *supervised) stop() {
	s.quit()
	<-s.done
}
