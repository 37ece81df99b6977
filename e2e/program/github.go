package program

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// GitHub is what leads to a simulated one.
type GitHub struct {
	Root     string // of its API
	Token    string // REMUDA_SIMULATED_TOKEN
	Settings string // a line of a configuration file
}

// GitHub waits until `remuda dev github` serves.
func (p *Process) GitHub() (GitHub, error) {
	var values []any
	for _, name := range []string{"GITHUB_URL", "GITHUB_API_URL", "GITHUB_TOKEN_ENV", "SIMULATED_TOKEN"} {
		value, err := p.Await(`export REMUDA_` + name + `=(\S+)\n`)
		if err != nil {
			return GitHub{}, err
		}
		values = append(values, value)
	}
	return GitHub{fmt.Sprint(values[1]), fmt.Sprint(values[3]), fmt.Sprintf("github: {url: %s, apiUrl: %s, tokenEnv: %s}\n", values[:3]...)}, nil
}

// Call speaks to its control API, within a limit that the end of a test does not shorten. in and out may be nil.
func (g GitHub) Call(ctx context.Context, limit time.Duration, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer http.DefaultClient.CloseIdleConnections()
	return githubsim.ControlClient{Root: g.Root, Token: g.Token}.Call(ctx, method, path, in, out)
}

// Unregistered waits until no runner is left and returns all that there were. One that came too late for its deletion is
// the sweep's, on its second sight.
func (g GitHub) Unregistered(ctx context.Context, limit time.Duration) (all []githubsim.Registration, err error) {
	left := func(r githubsim.Registration) bool { return r.Removed == "" }
	late := Until(limit, "no runner is left at GitHub", func() bool {
		all = nil
		err = g.Call(ctx, limit, http.MethodGet, "/registrations", nil, &all)
		return err != nil || !slices.ContainsFunc(all, left)
	})
	if late != nil {
		err = fmt.Errorf("%w: %+v", late, all[slices.IndexFunc(all, left)])
	}
	return all, err
}
