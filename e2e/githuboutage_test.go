package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// gitHubTrouble outlasts the limits of created and claimed below, as 10 minutes outlast the real ones.
const gitHubTrouble = 90 * time.Second

// troubleLimits are shorter than the outage, and long enough for machines that a busy computer starts before
// and after it.
var troubleLimits = []string{
	"REMUDA_LIMITS_CLAIMED=75s", "REMUDA_LIMITS_CLAIM_GATE=70s", "REMUDA_LIMITS_CREATED=80s", "REMUDA_LIMITS_CREATE_GATE=75s",
}

// outage is one way in which GitHub does not serve.
type outage struct {
	name       string
	mode       store.RegistrationMode
	begin, end map[string]any // by path of the control API
	why        string         // in the message of the request that fails
	runners    bool           // they are cut off, too: a job would be lost that is handed out at that moment
}

// outages are no more than run at once (TestMain), since each takes a minute and more.
func outages() []outage {
	primary := map[string]any{"limit": 0, "windowSeconds": 10}
	secondary := map[string]any{"limit": 0, "windowSeconds": 10, "secondary": true, "status": 429}
	none := map[string]any{}
	up := map[string]any{"/outage": none}
	all := func(m githubsim.Mode) map[string]any { return map[string]any{"/outage": githubsim.Outage{Mode: m}} }
	return []outage{
		{"Down", store.JIT, all(githubsim.Fails), up, "github: unavailable: 503", true},
		{"DownForTokens", store.Token, all(githubsim.Fails), up, "github unavailable: ", true},
		{"Lost", store.Token, all(githubsim.Lost), up, "github unavailable: ", true},
		{"TooSlow", store.JIT, map[string]any{"/latency": map[string]any{"apiSeconds": 8}}, map[string]any{"/latency": none}, "github: unavailable: ", false},
		{"Revoked", store.JIT, all(githubsim.Revoked), up, "the credential is wrong, expired or revoked", false},
		{"Limits", store.JIT, map[string]any{"/ratelimit/core": primary, "/ratelimit/actions_runner_registration": secondary},
			map[string]any{"/ratelimit/core": none, "/ratelimit/actions_runner_registration": none}, "github: rate limited: ", false},
	}
}

// GitHub answers 5xx, or too late, loses its answers, limits the rate, or refuses the
// credentials, for longer than an instance may stay created or claimed: nothing is terminated for it, a
// request that can wait waits, one that cannot fails and says why, and everything resumes by itself (S33,
// H53; invariants 6 and 7).
func TestGitHubOutage_H53_NothingEndsAndEverythingResumes(t *testing.T) {
	program.Long(t, "waits out an outage")
	t.Parallel()
	for _, tt := range outages() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serving(t, append([]string{"REMUDA_GITHUB_REGISTRATION=" + string(tt.mode)}, troubleLimits...)...)
			s.request("100", 2) // two for the pool
			s.request("200", 1) // a run that goes on
			s.request("300", 1) // one that will be released
			s.Check(s.release("100"))
			s.Check(s.expect(2, "instances are pooled", witness.Pooled))

			s.set(tt.begin)
			began := time.Now()
			var g errgroup.Group
			g.Go(func() error { // warm and cold
				_, err := s.requestWithin(crowdWait, "400", 3, "--timeout", "5m")
				return err
			})
			jobs := func() error { // the second one needs another registration
				_, err := s.remuda(crowdWait, "dev", "submit", "--run", "200", "--count", "2", "--seconds", "0.1", "--wait")
				return err
			}
			if !tt.runners {
				g.Go(jobs)
			}
			g.Go(func() error {
				_, err := s.remuda(crowdWait, "release", "--id", "300", "--timeout", "5m")
				return err
			})
			_, err := s.requestWithin(patience, "500", 1, "--timeout", "1m") // in which a busy machine boots and tries
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("request 500 while GitHub is out of order: %v, want its failure to say %q", err, tt.why)
			}
			time.Sleep(time.Until(began.Add(gitHubTrouble))) // the rest of the outage
			s.Check(s.notEnded())
			s.set(tt.end)
			if tt.runners {
				g.Go(jobs)
			}
			s.Check(g.Wait())
			s.Check(s.jobs("400", 3))
			s.Check(s.notEnded())
			s.Check(s.release("400"))
			s.Check(s.release("200"))
			s.Check(s.drain())
			s.Check(s.close())
		})
	}
}

// set puts values to the control API of the simulated GitHub.
func (s *installation) set(values map[string]any) {
	s.Helper()
	for path, value := range values {
		s.Check(s.sim(http.MethodPut, path, value, nil))
	}
}

// notEnded reports every machine that was ended.
func (s *installation) notEnded() error {
	if err := s.witness.Look(s.Context()); err != nil {
		return err
	}
	var errs []error
	for _, in := range s.witness.Instances() {
		if in.State == statemachine.Terminated {
			errs = append(errs, fmt.Errorf("%s was ended: %s", in.ID, in.Reason))
		}
	}
	return errors.Join(errs...)
}
