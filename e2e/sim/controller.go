package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// supervisor starts controllers again whenever they died, as systemd does.
type supervisor struct {
	w   *World
	all []*supervised

	mu         sync.Mutex
	cfg        reconciler.Config
	configured time.Time // when the configuration was changed; zero: never
	restarts   int
	restarted  time.Time // when the last of them died
}

// supervised is one program that is started again.
type supervised struct {
	w    *World
	name string
	done chan struct{}
	proc *process             // guarded by supervisor.mu
	op   *reconciler.Operator // of proc; guarded by supervisor.mu
	wait time.Duration        // somebody stopped it in order, until it is started again after so long; guarded by supervisor.mu
	quit context.CancelFunc
}

// start starts a controller that comes back seconds after every crash, with a clock that is off.
func (s *supervisor) start(name string) {
	ctx, quit := context.WithCancel(context.Background())
	c := &supervised{w: s.w, name: name, done: make(chan struct{}), quit: quit}
	s.all = append(s.all, c)
	go func() {
		defer close(c.done)
		for n := 1; ctx.Err() == nil; n++ {
			p := s.w.newProcess(Controller, fmt.Sprintf("%s.%d", name, n))
			s.mu.Lock()
			c.proc, c.wait = p, 0
			s.mu.Unlock()
			stop := context.AfterFunc(ctx, p.kill) // in order: it gives up the lease
			s.serve(c, p)
			stop()
			if ctx.Err() != nil {
				return
			}
			pause := newKey(s.w.o.Seed, name, "restart", strconv.Itoa(n)).between(500*time.Millisecond, 3*time.Second)
			s.mu.Lock()
			if s.restarted = s.w.clock.Now(); c.wait > 0 {
				pause = c.wait
			} else {
				s.restarts++
			}
			s.mu.Unlock()
			s.w.disturbances.note(pause, true)
			_ = wait(ctx, pause) // its end ends the loop
		}
	}()
}

// config is that of controllers that start now.
func (s *supervisor) config() reconciler.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// configure changes the configuration of controllers that start from now on.
func (s *supervisor) configure(a config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Largest > 0 {
		s.cfg.MaxInstances = a.Largest
	}
	s.cfg.Registration = cmp.Or(store.RegistrationMode(a.Mode), s.cfg.Registration)
	if l := &s.cfg.Limits; a.Strict {
		l.Beat, l.Silence, l.RunningSilence, l.CreateGate = l.Beat/3, l.Silence/5, l.RunningSilence/5, l.CreateGate*2/3
		s.cfg.WarmPoll /= 5 // or the controller would read heartbeats less often than it expects them
	}
	classes := maps.Clone(s.cfg.Classes)
	delete(classes, a.Without)
	s.cfg.Classes = classes
	s.configured = s.w.clock.Now()
}

// reconfigured reports whether the configuration was changed so lately that an older one may still be in force.
func (s *supervisor) reconfigured(within time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.configured.IsZero() && s.w.clock.Since(s.configured) < s.w.o.paced(within)
}

// candidates are those of the controller that leads; nil: none does, or it has not looked yet.
func (s *supervisor) candidates(leader string) map[store.InstanceID]bool {
	s.mu.Lock()
	var op *reconciler.Operator
	for _, c := range s.all {
		if c.proc != nil && c.proc.name == leader && c.proc.alive() {
			op = c.op
		}
	}
	s.mu.Unlock() // it reads its clock, which asks the world
	if op == nil {
		return nil
	}
	return op.Candidates()
}

// lastRestart returns when a controller last died; zero: never.
func (s *supervisor) lastRestart() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarted
}

// serve runs one controller until it dies or is stopped.
func (s *supervisor) serve(c *supervised, p *process) {
	cfg := s.config()
	cfg.Holder, cfg.Prices = p.name, s.w.prices
	op, err := reconciler.New(reconciler.Options{
		Config: cfg, Table: tableGate{p, s.w.truth}, Pool: poolGate{p, s.w.pool}, Fleet: fleetGate{p, s.w.fleet}, GitHub: githubGate{p, s.w.hub},
		Runs: runsGate{p, judgedRuns{s.w, s.w.hub.Workflows()}}, Clock: p.clk, Offset: p.storeTime(), Log: s.w.log.With(logkey.Holder, p.name),
	})
	s.mu.Lock()
	c.op = op
	s.mu.Unlock()
	if err == nil {
		err = op.Run(p.ctx)
	}
	if err != nil && p.ctx.Err() == nil {
		s.w.verdicts.broke("controller runs", "%s ended: %v", p.name, err)
	}
}

// find returns the living process of a controller, or of the one that leads; nil if there is none of that name.
func (s *supervisor) find(who, leader string) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		if p := c.proc; p != nil && p.alive() && (c.name == who || who == string(Controller) && p.name == leader) {
			return p
		}
	}
	return nil
}

// unstopped names the controllers that nobody has stopped.
func (s *supervisor) unstopped() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, c := range s.all {
		if c.wait == 0 {
			names = append(names, c.name)
		}
	}
	return names
}

// rest ends the program in order; it is started again after d.
func (s *supervised) rest(d time.Duration) {
	s.w.supervisor.mu.Lock()
	p := s.proc
	if p != nil {
		s.wait = d
	}
	s.w.supervisor.mu.Unlock()
	s.w.disturbances.note(d, true)
	if p != nil && p.alive() {
		s.w.transcript.tellf("%s is stopped", p.name)
		p.kill()
	}
}

// reload has the program take up the configuration while it runs. One that is not running reads it when it starts.
func (s *supervised) reload() {
	sup := s.w.supervisor
	sup.mu.Lock()
	p, op := s.proc, s.op
	sup.mu.Unlock()
	if p == nil || op == nil || !p.alive() {
		return
	}
	s.w.transcript.tellf("%s reads its configuration", p.name)
	if err := op.Renew(sup.config(), fleetGate{p, s.w.fleet}, nil); err != nil {
		s.w.verdicts.broke("controller runs", "%s: %v", p.name, err)
	}
}

// stop ends the program in order.
func (s *supervised) stop() {
	s.quit()
	<-s.done
}
