package reconciler_test

import (
	"context"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// stepper decides what befalls the calls of one controller.
type stepper interface {
	// step carries out a call with an effect.
	step(ctx context.Context, what string, do func() error) error
	// renew carries out a write of the lease, which is no step: how many there are is chance.
	renew(ctx context.Context, do func() error) error
}

// The back ends of a controller that may die or stall: every call with an effect is a step, and what
// befalls it is c's to say.
type (
	stepTable struct {
		store.Table
		c stepper
	}
	stepFleet struct {
		fleet.Fleet
		c stepper
	}
	stepPool struct {
		pool.Pool
		c stepper
	}
	stepGitHub struct {
		reconciler.GitHub
		c stepper
	}
)

func (t stepTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key == store.LeaseKey {
		return t.c.renew(ctx, func() error { return t.Table.Put(ctx, item, expect) })
	}
	return t.c.step(ctx, "put "+item.Key.Sort, func() error { return t.Table.Put(ctx, item, expect) })
}

func (f stepFleet) Launch(ctx context.Context, p fleet.Plan) (out fleet.Outcome, err error) {
	err = f.c.step(ctx, "launch", func() error { out, err = f.Fleet.Launch(ctx, p); return err })
	return out, err
}

func (f stepFleet) Terminate(ctx context.Context, ids ...string) error {
	return f.c.step(ctx, "terminate", func() error { return f.Fleet.Terminate(ctx, ids...) })
}

func (p stepPool) Offer(ctx context.Context, t pool.Ticket) error {
	return p.c.step(ctx, "offer", func() error { return p.Pool.Offer(ctx, t) })
}

func (p stepPool) Done(ctx context.Context, class string, receipts ...string) error {
	return p.c.step(ctx, "done", func() error { return p.Pool.Done(ctx, class, receipts...) })
}

func (g stepGitHub) JITConfig(ctx context.Context, name, label string) (jit githubapi.JIT, err error) {
	err = g.c.step(ctx, "jitconfig", func() error { jit, err = g.GitHub.JITConfig(ctx, name, label); return err })
	return jit, err
}

func (g stepGitHub) DeleteRunner(ctx context.Context, id int64) error {
	return g.c.step(ctx, "delete runner", func() error { return g.GitHub.DeleteRunner(ctx, id) })
}

// stepping starts a controller all of whose effects go through c.
func (w *world) stepping(name string, c stepper) (stop func()) {
	w.t.Helper()
	return w.controllerWith(name, reconciler.Options{
		Table: stepTable{w.Table, c}, Fleet: stepFleet{w.Fleet, c}, Pool: stepPool{w.Pool, c}, GitHub: stepGitHub{w.Hub, c},
	})
}
