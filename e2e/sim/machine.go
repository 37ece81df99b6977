package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// machine is one machine: its runner, and the agents that run on it one after the other.
type machine struct {
	w         *World
	id        string
	principal store.Principal
	born      time.Time
	died      time.Time // zero: lives; guarded by w.mu
	cancel    context.CancelFunc
	runner    *agenttest.HubRunner
	proc      *process        // guarded by w.mu
	disturbed time.Duration   // until when it is exempt, because somebody hurt it; 0: nobody did; guarded by w.mu
	hurt      time.Duration   // since when; guarded by w.mu
	soiled    bool            // a run may have left something on it; guarded by w.mu
	orphans   []time.Duration // when its agent died that had started a listener and not noted which; guarded by w.mu
	notice    atomic.Bool
}

// boot starts a machine: after the boot time its agent runs, and again after each crash.
func (w *World) boot(fm fleet.Machine) {
	w.truth.launched(fm)
	m, ctx, err := w.newMachine(fm, w.clock.Now())
	if err != nil {
		w.truth.violate("machine boots", "%s: %v", m.id, err)
		return
	}
	k := newKey(w.o.Seed, m.id, "boot")
	if k.next().float() < w.o.NeverBoots {
		w.disturbMachine(m.id)
		return // a machine that hangs in its boot
	}
	m.live(ctx, k.between(w.o.Boot/2, w.o.Boot*3/2), k)
}

// newMachine makes a machine that is on as long as the context it returns.
func (w *World) newMachine(fm fleet.Machine, born time.Time) (*machine, context.Context, error) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &machine{
		w: w, id: fm.ID, principal: store.Principal(fm.Principal), born: born,
		cancel: cancel, runner: agenttest.NewHubRunner(ctx, w.hub),
	}
	m.runner.Lag = newKey(w.o.Seed, m.id, "lag").between(0, tick)
	m.runner.Begin = newKey(w.o.Seed, m.id, "begin").between(300*time.Millisecond, 900*time.Millisecond) // as actions/runner 2.336.0
	m.runner.Linger = w.lingers
	w.mu.Lock()
	w.machines[m.id] = m
	w.mu.Unlock()
	return m, ctx, os.Mkdir(filepath.Join(w.dir, m.id), 0o755)
}

// machineOf returns a machine that the world runs, or ran; nil if it never did.
func (w *World) machineOf(id string) *machine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.machines[id]
}

// live runs the machine's agents, the first one after a pause.
func (m *machine) live(ctx context.Context, pause time.Duration, k key) {
	m.w.running.Go(func() {
		defer m.runner.Wait()
		defer m.cancel()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-m.w.clock.After(pause):
			}
			if m.serve(ctx, filepath.Join(m.w.dir, m.id), n) {
				return
			}
			pause = k.next().between(time.Second, 2*time.Second) // RestartSec of the unit
		}
	})
}

// serve runs the nth agent of the machine until it dies. It reports whether the machine is off.
func (m *machine) serve(ctx context.Context, dir string, n int) (off bool) {
	w := m.w
	p := w.newProcess(Agent, fmt.Sprintf("%s.%d", m.id, n))
	p.on, p.clk = store.InstanceID(m.id), w.clocks.of(m.id, agents) // the machine's, whatever process runs on it
	stop := context.AfterFunc(ctx, p.end)
	defer stop()
	w.mu.Lock()
	m.proc = p
	w.mu.Unlock()
	var draws atomic.Int64
	a, err := agent.New(agent.Options{
		Store: w.store(p), Principal: m.principal, InstanceID: store.InstanceID(m.id), Dir: dir, Exe: "/bin/false", Version: "sim",
		Clock: p.clk, Offset: p.storeTime(), Log: w.log.With(logkey.Holder, p.name), Runner: runnerGate{p, m}, Machine: powerGate{p, m}, Script: scriptGate{p, m},
		Jitter: func() float64 {
			return newKey(w.o.Seed, p.name, "jitter", strconv.FormatInt(draws.Add(1), 10)).float()
		},
		BootDeadline: w.cfg.Limits.Created, Grace: w.cfg.Limits.AgentGrace, Beat: w.cfg.Limits.Beat,
		IdlePoll: cmp.Or(w.o.Tempo.IdlePoll, w.o.paced(250*time.Millisecond)), Poll: cmp.Or(w.o.Tempo.Poll, w.o.paced(2*time.Second)), // the agent's defaults
		OnlineLimit: w.o.paced(time.Minute), StartLimit: w.o.paced(90 * time.Second), CleanLimit: w.o.paced(100 * time.Second),
	})
	if err == nil {
		err = a.Run(p.ctx)
	}
	if err != nil && p.ctx.Err() == nil && !errors.Is(err, agent.ErrHalted) {
		w.truth.violate("agent runs", "%s ended: %v", p.name, err)
	}
	return ctx.Err() != nil
}

// off ends a machine at once: agent, runner and job. The fleet calls it.
func (w *World) off(id string) {
	w.mu.Lock()
	m := w.machines[id]
	if m != nil {
		m.died = w.clock.Now()
	}
	w.mu.Unlock()
	if m != nil {
		m.cancel()
	}
}

// reclaim is a sudden loss of a machine behind the system's back.
func (w *World) reclaim(id string) {
	w.disturbMachine(id)
	w.disturbances.note(0, false)
	w.fleet.End(id)
}

// disturbMachine exempts the end of a machine for good: somebody hurt it.
func (w *World) disturbMachine(id string) { w.disturbMachineUntil(id, math.MaxInt64) }

// aftermath is how long after it was hurt a machine may end for that, at pace 1: what it missed is noticed at its next gate
// or by the end of its state, of which the longest are those of created and of the handshake.
const aftermath = 10 * time.Minute

// disturbMachineFor exempts the end of a machine that is hurt for d, and for a while after that.
func (w *World) disturbMachineFor(id string, d time.Duration) {
	w.disturbMachineUntil(id, w.since()+d+w.o.paced(aftermath))
}

func (w *World) disturbMachineUntil(id string, until time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.machines[id]; m != nil {
		if m.disturbed == 0 {
			m.hurt = w.since()
		}
		m.disturbed = max(m.disturbed, until)
	}
}

func (w *World) isDisturbed(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.machines[id]
	return m != nil && w.since() <= m.disturbed
}

// wasDisturbed reports whether a machine was hurt at an instant. What hurt it later exempts nothing: every machine is
// hurt in the end, when it powers off.
func (w *World) wasDisturbed(id string, at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.machines[id]
	d := at.Sub(w.begin)
	return m != nil && m.hurt <= d && d <= m.disturbed
}

// orphanFor is how long such a listener may live: its next agent, which cannot know whose it is, ends it, with the job that it
// may have taken by then.
const orphanFor = time.Minute

// unnoted notes that the agent died before it could note which listener it had started.
func (m *machine) unnoted() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.orphans = append(m.orphans, m.w.since())
}

// wasOrphan reports whether a job came to a listener of which its agent knew nothing.
func (w *World) wasOrphan(j githubsim.JobRecord) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.machines[j.InstanceID]
	return m != nil && slices.ContainsFunc(m.orphans, func(at time.Duration) bool {
		began := j.StartedAt.Sub(w.begin)
		return at <= began && began <= at+orphanFor
	})
}

func (w *World) killAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		m.cancel()
	}
}

// Halt implements agent.Machine.
func (m *machine) Halt(_ context.Context, reason string) error {
	m.w.truth.halted(m.id, reason)
	m.w.fleet.End(m.id)
	return nil
}

// Scrub implements agent.Machine. What runs meanwhile soils the machine again.
func (m *machine) Scrub(context.Context, string) error {
	m.soil(m.runner.Alive())
	return nil
}

// soil notes whether a run may have left something on the machine.
func (m *machine) soil(soiled bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.soiled = soiled
}

// Run implements agent.Script.
func (m *machine) Run(context.Context) error { return nil }

// Interrupted implements agent.Machine.
func (m *machine) Interrupted(context.Context) bool { return m.notice.Load() }
