package e2e

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// halfDown is longer than any limit of troubleLimits.
const halfDown = 90 * time.Second

// GitHub's API is up, and one of the services that runners need is not, or calls every version deprecated, while two
// requests wait and one runs: no machine ends, none is launched for nothing, and everything resumes by itself (H53; reconciler
// has each outage in virtual time).
func TestGitHubHalfDown_H53_NothingEndsAndEverythingResumes(t *testing.T) {
	program.Long(t, "waits out an outage")
	t.Parallel()
	for name, tt := range map[string]struct {
		mode  store.RegistrationMode
		path  string
		value any
		none  any
	}{
		"TokensRefused": {store.JIT, "/services/oauth", map[string]any{"trouble": githubsim.Answer403}, map[string]any{"trouble": githubsim.NoTrouble}},
		"SessionsHang":  {store.Token, "/services/broker", map[string]any{"trouble": githubsim.Hang}, map[string]any{"trouble": githubsim.NoTrouble}},
		"Deprecated":    {store.JIT, "/deprecated", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serving(t, append([]string{"REMUDA_GITHUB_REGISTRATION=" + string(tt.mode)}, troubleLimits...)...)
			s.request("100", 2) // for the pool
			s.request("200", 1) // a run that goes on
			s.Check(s.release("100"))
			s.Check(s.expect(2, "instances are pooled", witness.Pooled))

			s.set(map[string]any{tt.path: tt.value})
			began := time.Now()
			var g errgroup.Group
			for id, count := range map[string]int{"300": 1, "400": 2} { // two warm, one cold
				g.Go(func() error {
					_, err := s.requestWithin(crowdWait, id, count, "--timeout", "5m30s")
					return err
				})
			}
			time.Sleep(time.Until(began.Add(halfDown)))
			s.Check(s.notEnded())
			s.set(map[string]any{tt.path: tt.none})
			s.Check(g.Wait())
			s.Check(s.jobs("200", 1))
			s.Check(s.jobs("300", 1))
			s.Check(s.jobs("400", 2))
			s.Check(s.notEnded())
			if n := len(s.witness.Instances()); n != 4 {
				t.Errorf("%d machines were launched, want 4", n)
			}
			for _, id := range []string{"200", "300", "400"} {
				s.Check(s.release(id))
			}
			s.Check(s.drain())
			s.Check(s.close())
		})
	}
}
