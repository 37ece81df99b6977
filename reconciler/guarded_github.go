package reconciler

import (
	"context"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// callsAtOnce is how many calls are made to GitHub at the same time, which refuses more than 100 (GitHub REST, "About
// secondary rate limits"), of all who share an account.
const callsAtOnce = 80

// guardedGitHub notes whether GitHub answers calls about runners, bounds the calls under way, lets a look that calls GitHub step aside meanwhile, and registers and deletes
// nothing outside the window of trust. Lookups pass.
type guardedGitHub struct {
	GitHub
	fence   fence
	calling chan struct{}                        // holds one for every call under way
	note    func(ctx context.Context, err error) // of the outcome of each call
}

func newGuardedGitHub(hub GitHub, f fence, note func(context.Context, error)) guardedGitHub {
	return guardedGitHub{hub, f, make(chan struct{}, callsAtOnce), note}
}

// Runners is GitHub's.
func (g guardedGitHub) Runners(ctx context.Context) ([]githubapi.Runner, error) {
	out, err := g.GitHub.Runners(ctx)
	g.note(ctx, err)
	return out, err
}

// lookUp makes a call that changes nothing.
func (g guardedGitHub) lookUp(ctx context.Context, call func(context.Context) error) error {
	defer stepAside(ctx)()
	select {
	case g.calling <- struct{}{}:
		defer func() { <-g.calling }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return call(ctx)
}

// change makes a call with an effect.
func (g guardedGitHub) change(ctx context.Context, what string, call func(context.Context) error) error {
	return g.lookUp(ctx, func(ctx context.Context) error { return g.fence.pass(ctx, what, call) })
}

// JITConfig is GitHub's.
func (g guardedGitHub) JITConfig(ctx context.Context, name, label string) (jit githubapi.JIT, err error) {
	err = g.change(ctx, "register", func(ctx context.Context) error {
		jit, err = g.GitHub.JITConfig(ctx, name, label)
		g.note(ctx, err)
		return err
	})
	return jit, err
}

// RegistrationToken is GitHub's.
func (g guardedGitHub) RegistrationToken(ctx context.Context) (token githubapi.Token, err error) {
	err = g.change(ctx, "registration token", func(ctx context.Context) error {
		token, err = g.GitHub.RegistrationToken(ctx)
		g.note(ctx, err)
		return err
	})
	return token, err
}

// FindRunner is GitHub's.
func (g guardedGitHub) FindRunner(ctx context.Context, name string) (r githubapi.Runner, found bool, err error) {
	err = g.lookUp(ctx, func(ctx context.Context) error {
		r, found, err = g.GitHub.FindRunner(ctx, name)
		g.note(ctx, err)
		return err
	})
	return r, found, err
}

// AddLabel is GitHub's.
func (g guardedGitHub) AddLabel(ctx context.Context, id int64, label string) error {
	return g.change(ctx, "add label", func(ctx context.Context) error {
		err := g.GitHub.AddLabel(ctx, id, label)
		g.note(ctx, err)
		return err
	})
}

// DeleteRunner is GitHub's.
func (g guardedGitHub) DeleteRunner(ctx context.Context, id int64) error {
	return g.change(ctx, "delete runner", func(ctx context.Context) error {
		err := g.GitHub.DeleteRunner(ctx, id)
		g.note(ctx, err)
		return err
	})
}
