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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// machine is one machine: its runner, and the agents that run on it one after the other.
type machine struct {
	w         *World
	id        string
	principal store.Principal
	born      time.Time
	limits    statemachine.Limits // that its agents work by: those of its launch
	died      time.Time           // zero: lives; guarded by machines.mu
	cancel    context.CancelFunc
	runner    *agenttest.HubRunner
	vanished  atomic.Bool     // somebody took it away
	proc      *process        // guarded by machines.mu
	agent     *agent.Agent    // that runs, or ran last; guarded by machines.mu
	disturbed time.Duration   // until when it is exempt, because somebody hurt it; 0: nobody did; guarded by machines.mu
	hurt      time.Duration   // since when; guarded by machines.mu
	soiled    bool            // a run may have left something on it; guarded by machines.mu
	orphans   []time.Duration // when its agent died that had started a listener and not noted which; guarded by machines.mu
	notice    atomic.Bool
	deaf      atomic.Int64 // until when its agent reads nothing of the store
}

// machines are all that the world has run.
type machines struct {
	w *World

	mu  sync.Mutex
	all map[string]*machine
}

// boot starts a machine: after the boot time its agent runs, and again after each crash.
func (ms *machines) boot(fm fleet.Machine) {
	ms.w.truth.demand.launched(fm)
	m, ctx, err := ms.add(fm, ms.w.clock.Now())
	if err != nil {
		ms.w.verdicts.broke("machine boots", "%s: %v", m.id, err)
		return
	}
	k := newKey(ms.w.o.Seed, m.id, "boot")
	if k.next().float() < ms.w.o.NeverBoots {
		ms.disturb(m.id)
		return // a machine that hangs in its boot
	}
	m.live(ctx, k.between(ms.w.o.Boot/2, ms.w.o.Boot*3/2), k)
}

// add makes a machine that is on as long as the context it returns.
func (ms *machines) add(fm fleet.Machine, born time.Time) (*machine, context.Context, error) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &machine{
		w: ms.w, id: fm.ID, principal: store.Principal(fm.Principal), born: born, limits: ms.w.supervisor.config().Limits,
		cancel: cancel, runner: agenttest.NewHubRunner(ctx, ms.w.hub),
	}
	m.runner.Lag = newKey(ms.w.o.Seed, m.id, "lag").between(0, tick)
	m.runner.Begin = newKey(ms.w.o.Seed, m.id, "begin").between(300*time.Millisecond, 900*time.Millisecond) // as actions/runner 2.336.0
	m.runner.Linger, m.runner.Fails = ms.w.workflows.lingers, fails
	m.runner.Vanished = m.vanished.Load
	if ms.w.o.Ahead > 0 {
		m.runner.Admit = m.admit
	}
	ms.mu.Lock()
	ms.all[m.id] = m
	ms.mu.Unlock()
	return m, ctx, os.Mkdir(filepath.Join(ms.w.dir, m.id), 0o755)
}

// of returns a machine that the world runs, or ran; nil if it never did.
func (ms *machines) of(id string) *machine {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.all[id]
}

// lives reports whether a machine was not ended yet.
func (ms *machines) lives(id string) bool {
	return !ms.is(id, func(m *machine) bool { return !m.died.IsZero() })
}

// is reports whether the world runs a machine, or ran it, that is so.
func (ms *machines) is(id string, so func(*machine) bool) bool {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m := ms.all[id]
	return m != nil && so(m)
}

// diedAt returns when a machine ended.
func (ms *machines) diedAt(id string) time.Time {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if m := ms.all[id]; m != nil {
		return m.died
	}
	return time.Time{}
}

// ofAlive does something to the machine at x of 1 of those that live, if there is one.
func (ms *machines) ofAlive(x float64, do func(*machine)) {
	ids := ms.w.fleet.Alive()
	if len(ids) == 0 {
		return
	}
	if m := ms.of(ids[min(int(x*float64(len(ids))), len(ids)-1)]); m != nil {
		do(m)
	}
}

func (ms *machines) ofAgent(m *machine, do func(*process)) {
	ms.mu.Lock()
	p := m.proc
	ms.mu.Unlock()
	if p != nil {
		do(p)
	}
}

// nth does something to the nth machine launched, if there is one.
func (ms *machines) nth(n int, do func(id string)) {
	machines, err := ms.w.fleet.List(context.Background(), "")
	if err == nil && n >= 1 && n <= len(machines) {
		do(machines[n-1].ID)
	}
}

// find returns the living agent of a machine; nil if there is none of that name.
func (ms *machines) find(agent string) *process {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for id, m := range ms.all {
		if strings.Replace(short(id), "i-", "agent-", 1) == agent && m.died.IsZero() && m.proc != nil && m.proc.alive() {
			return m.proc
		}
	}
	return nil
}

// live runs the machine's agents, the first one after a pause.
func (m *machine) live(ctx context.Context, pause time.Duration, k key) {
	m.w.running.Go(func() {
		defer m.runner.Wait()
		defer m.cancel()
		for n := 1; ; n++ {
			if wait(ctx, pause) != nil {
				return
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
	w.machines.mu.Lock()
	m.proc = p
	w.machines.mu.Unlock()
	var draws atomic.Int64
	a, err := agent.New(agent.Options{
		Store: w.store(p), Principal: m.principal, InstanceID: store.InstanceID(m.id), Dir: dir, Exe: "/bin/false", Version: "sim",
		Clock: p.clk, Offset: p.storeTime(), Log: w.log.With(logkey.Holder, p.name), Runner: runnerGate{p, m}, Machine: powerGate{p, m}, Script: scriptGate{p, m},
		Jitter: func() float64 {
			return newKey(w.o.Seed, p.name, "jitter", strconv.FormatInt(draws.Add(1), 10)).float()
		},
		BootDeadline: m.limits.Created, Grace: m.limits.AgentGrace, Beat: m.limits.Beat, IdleBeat: m.limits.IdleBeat(),
		IdlePoll: cmp.Or(w.o.Tempo.IdlePoll, w.o.paced(250*time.Millisecond)), Poll: cmp.Or(w.o.Tempo.Poll, w.o.paced(2*time.Second)), // the agent's defaults
		OnlineLimit: w.o.paced(time.Minute), StartLimit: w.o.paced(90 * time.Second), CleanLimit: w.o.paced(100 * time.Second),
	})
	if err == nil {
		m.runs(a)
		err = a.Run(p.ctx)
	}
	if err != nil && p.ctx.Err() == nil && !errors.Is(err, agent.ErrHalted) {
		w.verdicts.broke("agent runs", "%s ended: %v", p.name, err)
	}
	return ctx.Err() != nil
}

// off ends a machine at once: agent, runner and job. The fleet calls it.
func (ms *machines) off(id string) {
	ms.mu.Lock()
	m := ms.all[id]
	if m != nil {
		m.died = ms.w.clock.Now()
	}
	ms.mu.Unlock()
	if m != nil {
		m.cancel()
	}
}

// reclaim is a sudden loss of a machine behind the system's back.
func (ms *machines) reclaim(id string) {
	if m := ms.of(id); m != nil {
		m.vanished.Store(true)
	}
	ms.disturb(id)
	ms.w.disturbances.note(0, false)
	ms.w.fleet.End(id)
}

// disturb exempts the end of a machine for good: somebody hurt it.
func (ms *machines) disturb(id string) { ms.disturbUntil(id, math.MaxInt64) }

// aftermath is how long after it was hurt a machine may end for that, at pace 1: what it missed is noticed at its next gate
// or by the end of its state, of which the longest are those of created and of the handshake.
const aftermath = 10 * time.Minute

// disturbFor exempts the end of a machine that is hurt for d, and for a while after that.
func (ms *machines) disturbFor(id string, d time.Duration) {
	ms.disturbUntil(id, ms.w.since()+d+ms.w.o.paced(aftermath))
}

func (ms *machines) disturbUntil(id string, until time.Duration) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if m := ms.all[id]; m != nil {
		if m.disturbed == 0 {
			m.hurt = ms.w.since()
		}
		m.disturbed = max(m.disturbed, until)
	}
}

func (ms *machines) isDisturbed(id string) bool {
	return ms.is(id, func(m *machine) bool { return ms.w.since() <= m.disturbed })
}

// wasDisturbed reports whether a machine was hurt at an instant. What hurt it later exempts nothing: every machine is
// hurt in the end, when it powers off.
func (ms *machines) wasDisturbed(id string, at time.Time) bool {
	d := at.Sub(ms.w.begin)
	return ms.is(id, func(m *machine) bool { return m.hurt <= d && d <= m.disturbed })
}

// orphanFor is how long such a listener may live: its next agent, which cannot know whose it is, ends it, with the job that it
// may have taken by then.
const orphanFor = time.Minute

// unnoted notes that the agent died before it could note which listener it had started.
func (m *machine) unnoted() {
	m.w.machines.mu.Lock()
	defer m.w.machines.mu.Unlock()
	m.orphans = append(m.orphans, m.w.since())
}

// wasOrphan reports whether a job came to a listener of which its agent knew nothing.
func (ms *machines) wasOrphan(j githubsim.JobRecord) bool {
	began := j.StartedAt.Sub(ms.w.begin)
	return ms.is(j.InstanceID, func(m *machine) bool {
		return slices.ContainsFunc(m.orphans, func(at time.Duration) bool { return at <= began && began <= at+orphanFor })
	})
}

// soiled reports whether a run may have left something on a machine that lives.
func (ms *machines) soiled(id string) bool {
	return ms.is(id, func(m *machine) bool { return m.soiled && m.died.IsZero() })
}

// hours are those that all machines have lived.
func (ms *machines) hours() float64 {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	total := 0.0
	for _, m := range ms.all {
		died := m.died
		if died.IsZero() {
			died = ms.w.clock.Now()
		}
		total += died.Sub(m.born).Hours()
	}
	return total
}

// end ends all machines with the world.
func (ms *machines) end() {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.all {
		m.cancel()
	}
}

// Halt implements agent.Machine.
func (m *machine) Halt(_ context.Context, reason string) error {
	m.w.truth.lifetimes.halted(m.id, reason)
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
	m.w.machines.mu.Lock()
	defer m.w.machines.mu.Unlock()
	m.soiled = soiled
}

// Run implements agent.Script.
func (m *machine) Run(context.Context) error { return nil }

// Interrupted implements agent.Machine.
func (m *machine) Interrupted(context.Context) bool { return m.notice.Load() }
