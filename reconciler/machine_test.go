package reconciler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// machine is one simulated machine: its agent and its runner.
type machine struct {
	cancel context.CancelFunc
	runner *agenttest.HubRunner
}

// start boots a machine: after the boot time its agent runs.
func (w *world) start(m fleet.Machine) {
	ctx, cancel := context.WithCancel(context.Background())
	mc := &machine{cancel: cancel, runner: agenttest.NewHubRunner(ctx, w.hub)}
	mc.runner.Unanswered = w.unanswered
	w.mu.Lock()
	w.machines[m.ID] = mc
	w.mu.Unlock()
	boot, o := w.boot, agent.Options{
		Store: w.store, Principal: store.Principal(m.Principal), InstanceID: store.InstanceID(m.ID), Dir: filepath.Join(w.dir, m.ID),
		Exe: "/bin/false", Version: "test", Clock: skewed{w.clock, w.skew}, Log: w.log.With("agent", m.ID), Grace: w.grace, IdlePoll: w.idlePoll,
		Runner: mc.runner, Machine: &power{w, m.ID, !w.powerless}, Script: w.script,
	}
	if w.agentTable != nil {
		o.Store = store.New(w.agentTable)
	}
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		w.t.Errorf("boot %s: %v", m.ID, err)
		return
	}
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		defer mc.runner.Wait()
		defer cancel()
		select {
		case <-ctx.Done():
			return
		case <-w.clock.After(boot):
		}
		a, err := agent.New(o)
		if err != nil {
			w.t.Errorf("agent %s: %v", m.ID, err)
			return
		}
		if err := a.Run(ctx); err != nil && !errors.Is(err, agent.ErrHalted) {
			w.t.Errorf("agent %s: %v", m.ID, err)
		}
	}()
}

// skewed is a clock that shows another time and runs as fast.
type skewed struct {
	clock.WithTicker
	by time.Duration
}

func (c skewed) Now() time.Time                  { return c.WithTicker.Now().Add(c.by) }
func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// stop ends a machine at once: agent, runner and job.
func (w *world) stop(id string) {
	w.mu.Lock()
	m := w.machines[id]
	w.mu.Unlock()
	if m != nil {
		m.cancel()
	}
}

// crash is a sudden loss of the machine behind the system's back.
func (w *world) crash(id store.InstanceID) {
	w.hang(id)
	w.fleet.End(string(id))
}

// hang stops everything on a machine while the fleet goes on showing it.
func (w *world) hang(id store.InstanceID) {
	w.mu.Lock()
	w.harmed[string(id)] = true
	w.mu.Unlock()
	w.stop(string(id))
}

func (w *world) wasHarmed(id store.InstanceID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.harmed[string(id)]
}

// fall makes a machine ill: GitHub is right to refuse it.
func (w *world) fall(id store.InstanceID, cause string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines[string(id)].runner.Fall(cause)
}

func (w *world) killAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		m.cancel()
	}
}

// power is what an agent may do to its machine.
type power struct {
	w     *world
	id    string
	works bool
}

func (p *power) Halt(context.Context, string) error {
	if p.works {
		p.w.crash(store.InstanceID(p.id))
	}
	return nil
}

func (p *power) Scrub(context.Context, string) error { return nil }

func (p *power) Interrupted(context.Context) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.interrupted[p.id]
}

// interrupt gives a machine its two-minute notice.
func (w *world) interrupt(id store.InstanceID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interrupted[string(id)] = true
}
