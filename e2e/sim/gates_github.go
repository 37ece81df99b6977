package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	osprocess "github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// githubGate is GitHub for one controller.
type githubGate struct {
	p     *process
	inner reconciler.GitHub
}

func (g githubGate) site(method, name string) Site {
	detail := ""
	if name != "" {
		detail = "@" + string(g.p.w.truth.records.state(store.InstanceID(githubsim.InstanceOf(name))))
	}
	return Site{g.p.role, "github." + method, detail}
}

func (g githubGate) JITConfig(ctx context.Context, name, label string) (githubapi.JIT, error) {
	return call(ctx, g.p, githubContract, g.site("JITConfig", name), name, func(ctx context.Context) (githubapi.JIT, error) {
		return g.inner.JITConfig(ctx, name, label)
	}, nil)
}

func (g githubGate) RegistrationToken(ctx context.Context) (githubapi.Token, error) {
	return call(ctx, g.p, githubContract, g.site("RegistrationToken", ""), "", g.inner.RegistrationToken, nil)
}

func (g githubGate) Runners(ctx context.Context) ([]githubapi.Runner, error) {
	return call(ctx, g.p, githubContract, g.site("Runners", ""), "", g.inner.Runners, lagging)
}

func (g githubGate) FindRunner(ctx context.Context, name string) (githubapi.Runner, bool, error) {
	type found struct {
		runner githubapi.Runner
		ok     bool
	}
	f, err := call(ctx, g.p, githubContract, g.site("FindRunner", name), name, func(ctx context.Context) (found, error) {
		r, ok, err := g.inner.FindRunner(ctx, name)
		return found{r, ok}, err
	}, nil)
	return f.runner, f.ok, err
}

func (g githubGate) AddLabel(ctx context.Context, id int64, label string) error {
	return done(ctx, g.p, githubContract, g.site("AddLabel", ""), strconv.FormatInt(id, 10), func(ctx context.Context) error {
		return g.inner.AddLabel(ctx, id, label)
	})
}

func (g githubGate) DeleteRunner(ctx context.Context, id int64) error {
	return done(ctx, g.p, githubContract, g.site("DeleteRunner", ""), strconv.FormatInt(id, 10), func(ctx context.Context) error {
		return g.inner.DeleteRunner(ctx, id)
	})
}

func (g githubGate) URL() string { return g.inner.URL() } // no call

// What the agent does to its own machine takes no network, but it may die in the middle of it.
var machineContract = contract{
	unknown: fmt.Errorf("simulated: input/output error"), least: time.Millisecond, most: 20 * time.Millisecond,
}

// runnerGate is the runner program under one agent.
type runnerGate struct {
	p       *process
	machine *machine
}

func (g runnerGate) Start(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	l, err := call(ctx, g.p, machineContract, Site{g.p.role, "runner.Start", g.p.state()}, "", func(ctx context.Context) (agent.Listener, error) {
		g.machine.soil(true)
		return g.machine.runner.Start(ctx, reg, label)
	}, nil)
	if !g.p.alive() {
		g.machine.unnoted()
	}
	return l, err
}

func (g runnerGate) Adopt(ctx context.Context, ref osprocess.Ref, boundary string) (agent.Listener, error) {
	return call(ctx, g.p, machineContract, Site{g.p.role, "runner.Adopt", g.p.state()}, "", func(ctx context.Context) (agent.Listener, error) {
		return g.machine.runner.Adopt(ctx, ref, boundary)
	}, nil)
}

// scriptGate is the operator's script under one agent.
type scriptGate struct {
	p     *process
	inner agent.Script
}

func (g scriptGate) Run(ctx context.Context) error {
	return done(ctx, g.p, machineContract, Site{g.p.role, "machine.Script", g.p.state()}, "", g.inner.Run)
}

// powerGate is the machine under one agent.
type powerGate struct {
	p     *process
	inner agent.Machine
}

func (g powerGate) Halt(ctx context.Context, reason string) error {
	return done(ctx, g.p, machineContract, Site{g.p.role, "machine.Halt", g.p.state()}, "", func(ctx context.Context) error {
		return g.inner.Halt(ctx, reason)
	})
}

func (g powerGate) Scrub(ctx context.Context, class string) error {
	return done(ctx, g.p, machineContract, Site{g.p.role, "machine.Scrub", g.p.state()}, "", func(ctx context.Context) error {
		return g.inner.Scrub(ctx, class)
	})
}

func (g powerGate) Interrupted(ctx context.Context) bool {
	b, err := call(ctx, g.p, machineContract, Site{g.p.role, "machine.Interrupted", g.p.state()}, "", func(ctx context.Context) (bool, error) {
		return g.inner.Interrupted(ctx), nil
	}, nil)
	return err == nil && b
}

// lagging shows runners as not busy, as GitHub does for up to a minute.
func lagging(all []githubapi.Runner, kind Kind, _ key) []githubapi.Runner {
	for i := range all {
		all[i].Busy = all[i].Busy && kind != Stale
	}
	return all
}
