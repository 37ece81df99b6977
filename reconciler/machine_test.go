package reconciler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// machine is one simulated machine: its agent and its runner.
type machine struct {
	cancel context.CancelFunc
	runner *hubRunner
}

// start boots a machine: after the boot time its agent runs.
func (w *world) start(m fleet.Machine) {
	ctx, cancel := context.WithCancel(context.Background())
	mc := &machine{cancel: cancel, runner: &hubRunner{ctx: ctx, hub: w.hub, world: w}}
	w.mu.Lock()
	w.machines[m.ID] = mc
	w.mu.Unlock()
	boot, o := w.boot, agent.Options{
		Store: w.store, Principal: store.Principal(m.Principal), InstanceID: store.InstanceID(m.ID), Dir: filepath.Join(w.dir, m.ID),
		Exe: "/bin/false", Version: "test", Clock: skewed{w.clock, w.skew}, Log: w.log.With("agent", m.ID), Grace: w.grace,
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

// hubRunner is the runner program of a machine, attached to the simulated GitHub.
type hubRunner struct {
	ctx   context.Context //nolint:containedctx // the machine's life
	hub   *githubsim.Hub
	world *world
	mu    sync.Mutex
	next  int
	cred  githubsim.Credentials // the runner is configured with, by a token
}

func (r *hubRunner) Start(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	cred, err := r.credentials(ctx, reg, label)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.next++
	ref := process.Ref{PID: 1<<30 + r.next, Start: 1}
	r.mu.Unlock()
	lctx, cancel := context.WithCancel(r.ctx)
	l := &hubListener{
		ref: ref, cancel: cancel, changed: make(chan struct{}, 1), done: make(chan struct{}),
		status: agent.Status{State: agent.Starting, RunnerID: cred.RunnerID},
	}
	r.world.running.Add(1)
	go func() {
		defer r.world.running.Done()
		defer close(l.done)
		l.serve(lctx, r.hub, cred)
	}()
	return l, nil
}

// credentials configures the runner, unless it is; a listener is then only started again.
func (r *hubRunner) credentials(ctx context.Context, reg store.Registration, label string) (githubsim.Credentials, error) {
	if reg.Mode == store.JIT {
		return githubsim.DecodeJIT(reg.Secret)
	}
	r.mu.Lock()
	cred := r.cred
	r.mu.Unlock()
	if cred.Name == reg.Name {
		return cred, nil
	}
	cred, err := r.hub.Register(ctx, reg.Secret, githubsim.RegisterRequest{Name: reg.Name, Labels: []string{label}})
	if err == nil {
		r.mu.Lock()
		r.cred = cred
		r.mu.Unlock()
	}
	return cred, err
}

func (r *hubRunner) Adopt(context.Context, process.Ref, string) (agent.Listener, error) {
	return nil, nil
}

// hubListener is one attached runner.
type hubListener struct {
	ref     process.Ref
	cancel  context.CancelFunc
	changed chan struct{}
	done    chan struct{}
	mu      sync.Mutex
	status  agent.Status
}

func (l *hubListener) serve(ctx context.Context, hub *githubsim.Hub, cred githubsim.Credentials) {
	s, err := hub.Connect(ctx, cred)
	if err != nil {
		l.set(func(st *agent.Status) {
			st.State, st.Exit = agent.Exited, agent.ExitRetryable
			switch {
			case errors.Is(err, githubapi.ErrUnavailable):
				st.Cause = store.CauseUnavailable
			case errors.Is(err, githubsim.ErrRunnerGone):
				st.Cause = store.CauseRefused
			}
		})
		return
	}
	defer s.Close()
	l.set(func(st *agent.Status) { st.State, st.Online = agent.Listening, true })
	err = githubsim.Listen(ctx, s, cred.Ephemeral, func(ctx context.Context, j githubsim.Job) githubsim.Conclusion {
		l.set(func(st *agent.Status) { st.State, st.Jobs = agent.Busy, st.Jobs+1 })
		defer l.set(func(st *agent.Status) { st.State = agent.Listening })
		select {
		case <-ctx.Done():
			return githubsim.Cancelled
		case <-time.After(time.Duration(j.Seconds * float64(time.Second))):
			return githubsim.Success
		}
	})
	l.set(func(st *agent.Status) {
		st.State, st.Exit = agent.Exited, agent.ExitOK
		if err != nil {
			st.Exit = agent.ExitTerminated
		}
		if errors.Is(err, githubsim.ErrRunnerGone) {
			st.Cause = store.CauseRefused // "The runner registration has been deleted from the server"
		}
	})
}

func (l *hubListener) set(change func(*agent.Status)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.status)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *hubListener) Ref() process.Ref         { return l.ref }
func (l *hubListener) Changed() <-chan struct{} { return l.changed }
func (l *hubListener) Kill()                    { l.cancel() }
func (l *hubListener) Detach()                  {}

func (l *hubListener) Status() agent.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

func (l *hubListener) Stop(ctx context.Context, mode store.ReleaseMode) error {
	if mode == store.Drain && l.Status().State == agent.Busy {
		return agent.ErrBusy
	}
	l.cancel()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
