package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
	"github.com/remuda-run/remuda/store"
)

// newApp returns an App for a simulated GitHub, and its private key.
func newApp() (app githubsim.App, private []byte, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return app, nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	app = githubsim.App{ID: 5, Installation: 77, PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))}
	return app, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), err
}

// asApp makes the controllers of an installation work as a GitHub App, for an organisation and in one of its
// runner groups.
func (s *installation) asApp(group string) {
	s.Helper()
	app, key, err := newApp()
	s.Check(err)
	file := filepath.Join(s.state, "app.pem")
	s.Check(os.WriteFile(file, key, 0o600))
	s.set(map[string]any{"/app": app, "/groups": []string{"gpu", group}})
	base := append(s.environ(), "REMUDA_GITHUB_URL="+s.gitHub.Root+"/octo", "REMUDA_GITHUB_APP_ID=5",
		"REMUDA_GITHUB_APP_KEY_FILE="+file, "REMUDA_GITHUB_RUNNER_GROUP="+strings.ToUpper(group))
	s.environ = func() []string { return base }
}

// A controller that is a GitHub App of an organisation serves jobs in both modes, with runners of its group
// alone, goes on when its token ends, and leaves none (S14, S15, H35, H37).
func TestGitHubApp_S14_H35_OrganisationAndGroup(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := install(t, append([]string{"REMUDA_GITHUB_REGISTRATION=" + string(mode)}, crowdLimits...)...) // nothing ends for being slow
			s.asApp("linux")
			s.controls()
			s.request("100", 2)
			s.Check(s.jobs("100", 4))
			s.set(map[string]any{"/groups": []string{"gpu", "linux", "large"}})
			s.Check(s.release("100"))
			got := s.request("200", 2)
			if got.WarmCount != 2 {
				t.Errorf("%d of run 200's are warm, want 2", got.WarmCount)
			}
			s.serve("200", 2)
			s.Check(s.drain())
			registrations, err := s.gitHub.Unregistered(t.Context(), patience)
			s.Check(err)
			for _, r := range registrations {
				if r.Group != "linux" || r.JIT != (mode == store.JIT) {
					t.Errorf("registration %+v, want one of group linux, %s", r, mode)
				}
			}
			calls := map[githubsim.Call]int{}
			s.Check(s.sim(http.MethodGet, "/calls", nil, &calls))
			for _, call := range []githubsim.Call{githubsim.CallInstallation, githubsim.CallAppToken, githubsim.CallGroups} {
				if mode == store.Token && call == githubsim.CallGroups {
					continue // config.sh takes the name
				}
				if n := calls[call]; n < 1 || n > 2 { // a busy machine may have been too late with the first answer
					t.Errorf("%s was called %d times, want once: %v", call, n, calls)
				}
			}
			s.Check(s.close())
		})
	}
}

// A version of the runner that GitHub will not serve for long is told of; while it is refused, the request
// says so (H50, H71).
func TestDeprecated_H50_H71_ToldBeforeAndWhenRefused(t *testing.T) {
	program.Long(t, "waits for a refused listener's next try")
	t.Parallel()
	s := install(t, "REMUDA_INTERVALS_HOUSEKEEPING=1s", "REMUDA_AGENT_RUNNER_VERSION="+simrunner.Version)
	end := time.Now().Add(240 * time.Hour).UTC().Truncate(time.Second)
	s.set(map[string]any{"/deprecations/" + simrunner.Version: map[string]any{"runtime": end}})
	c := s.controls()
	_, err := c.Await(`GitHub will stop serving this version of the runner: configure a newer one.*` + end.Format("2006-01-02"))
	s.Check(err)
	s.set(map[string]any{"/deprecated": true})
	// GitHub refuses a runner its messages, not its session: its machine may be handed over before that. Either way the
	// request says why while nothing runs, and is served once GitHub is right again.
	asked := make(chan error, 1)
	go func() {
		_, err := s.requestWithin(crowdWait, "100", 1, "--timeout", "30m", "--max-runtime", "1h")
		asked <- err
	}()
	s.Check(program.Until(crowdWait, "request 100 says why its seat is empty", func() bool {
		out, err := s.remuda(patience, "status", "100")
		return err == nil && strings.Contains(string(out), "deprecated")
	}))
	s.set(map[string]any{"/deprecated": false})
	s.Check(<-asked)
	s.serve("100", 1)
	s.request("200", 1)
	s.serve("200", 1)
	s.Check(s.drain())
	if len(s.witness.Instances()) == 0 {
		t.Error("no machine was launched")
	}
	s.Check(s.close())
}
