package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
)

// gitHubTrouble outlasts the limits of created and claimed below, as 10 minutes outlast the real ones.
const gitHubTrouble = 30 * time.Second

// GitHub answers 5xx, or too late, limits the rate, or refuses the credentials, for longer than an instance
// may stay created or claimed: nothing is terminated for it, a request that can wait waits, one that
// cannot fails and says why, and everything resumes by itself (S33, H53; design §8.6, §8.7).
func TestGitHubOutage_H53_NothingEndsAndEverythingResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("waits out an outage of 30 s: left out with -short")
	}
	limit := map[string]any{"limit": 0, "windowSeconds": 10}
	second := map[string]any{"limit": 0, "windowSeconds": 10, "secondary": true, "status": 429}
	none := map[string]any{}
	clients := []githubsim.Call{githubsim.CallJIT, githubsim.CallToken, githubsim.CallList, githubsim.CallGet, githubsim.CallDelete}
	for _, tt := range []struct {
		name       string
		begin, end map[string]any // by path of the control API
		why        string         // in the message of the request that fails
	}{
		{"Fails", map[string]any{"/outage": githubsim.Outage{Mode: githubsim.Fails, Calls: clients}}, map[string]any{"/outage": none}, "github: unavailable: 503"},
		{"TooSlow", map[string]any{"/latency": map[string]any{"apiSeconds": 8}}, map[string]any{"/latency": none}, "github: unavailable: "},
		{"Revoked", map[string]any{"/outage": githubsim.Outage{Mode: githubsim.Revoked}}, map[string]any{"/outage": none}, "the credential is wrong, expired or revoked"},
		{"PrimaryLimit", map[string]any{"/ratelimit/core": limit, "/ratelimit/actions_runner_registration": limit},
			map[string]any{"/ratelimit/core": none, "/ratelimit/actions_runner_registration": none}, "github: rate limited: "},
		{"SecondaryLimit", map[string]any{"/ratelimit/core": second, "/ratelimit/actions_runner_registration": second},
			map[string]any{"/ratelimit/core": none, "/ratelimit/actions_runner_registration": none}, "github: rate limited: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := install(t, "REMUDA_LIMITS_CLAIMED=12s", "REMUDA_LIMITS_CLAIM_GATE=10s", "REMUDA_LIMITS_CREATED=20s", "REMUDA_LIMITS_CREATE_GATE=18s",
				"REMUDA_LIMITS_RUNNING=5m", "REMUDA_LIMITS_IDLE=5m")
			s.controls()
			_, err := s.request("100", 2) // two for the pool
			s.check(err)
			_, err = s.request("200", 1) // a run that goes on
			s.check(err)
			_, err = s.request("300", 1) // one that will be released
			s.check(err)
			s.check(s.release("100"))
			s.check(s.expect(2, "instances are pooled", pooled))

			s.set(tt.begin)
			var g errgroup.Group
			g.Go(func() error { // warm and cold
				_, err := s.requestWithin(3*patience, "400", 3, "--timeout", "150s")
				return err
			})
			g.Go(func() error { // its second job needs another registration
				_, err := s.remuda(3*patience, "dev", "submit", "--run", "200", "--count", "2", "--seconds", "0.1", "--wait")
				return err
			})
			g.Go(func() error {
				_, err := s.remuda(3*patience, "release", "--id", "300", "--timeout", "150s")
				return err
			})
			_, err = s.requestWithin(patience, "500", 1, "--timeout", "15s")
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("request 500 while GitHub is out of order: %v, want its failure to say %q", err, tt.why)
			}
			time.Sleep(gitHubTrouble - 15*time.Second) // the rest of the outage
			s.check(s.notEnded())
			s.set(tt.end)
			s.check(g.Wait())
			s.check(s.jobs("400", 3))
			s.check(s.notEnded())
			s.check(s.release("400"))
			s.check(s.release("200"))
			s.check(s.drain())
			s.check(s.close())
		})
	}
}

// set puts values to the control API of the simulated GitHub.
func (s *installation) set(values map[string]any) {
	s.Helper()
	for path, value := range values {
		s.check(s.sim(http.MethodPut, path, value, nil))
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
