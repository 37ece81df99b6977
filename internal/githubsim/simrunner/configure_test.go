//go:build unix

package simrunner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubsim"
)

func TestConfigure_Refusals(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	w.jit(t, "taken", "x")
	good := map[string]string{"--url": w.URL(), "--token": w.token(t), "--name": "new", "--labels": "a"}
	for _, tt := range []struct{ name, flag, value, says string }{
		{"NoURL", "--url", "", "Invalid configuration provided for url"},
		{"NoToken", "--token", "", "Invalid configuration provided for token"},
		{"BadURL", "--url", "ftp://x", "Invalid configuration provided for url"},
		{"WrongToken", "--token", "guess", "unauthorized"},
		{"NameTaken", "--name", "taken", "A runner exists with the same name taken."},
		{"NoLabels", "--labels", "", "Disabling default labels via --no-default-labels"},
		{"LongLabel", "--labels", strings.Repeat("x", 257), "Invalid configuration provided for labels"},
		{"Group", "--runnergroup", "other", `Could not find any self-hosted runner group named "other"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"configure", "--unattended", "--no-default-labels"}
			for k, v := range good {
				if k == tt.flag {
					v = ""
				}
				if v != "" {
					args = append(args, k, v)
				}
			}
			if tt.value != "" {
				args = append(args, tt.flag, tt.value)
			}
			s := w.start(t, t.TempDir(), nil, args...)
			check(t, "configure", s.ended(t), 1, s)
			s.err.has(t, tt.says)
			for _, secret := range []string{good["--token"], "guess"} {
				if all := s.out.String() + s.err.String(); strings.Contains(all, secret) {
					t.Errorf("output tells the token: %s", all)
				}
			}
		})
	}
	if n := len(w.Registrations()); n != 1 {
		t.Errorf("%d registrations after refusals, want 1", n)
	}
}

// What the agent goes by when GitHub does not serve (agent/actionsrunner).
func TestConfigure_GitHubAway_SaysSoAsTheRealProgram(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		outage     githubsim.Mode
		token      string
	}{
		{"Fails", "Http response code: ServiceUnavailable from 'POST http://", githubsim.Fails, ""},
		{"Lost", "An error occurred while sending the request.", githubsim.Lost, ""},
		{"WrongToken", "Http response code: NotFound from 'POST http://", githubsim.Up, "guess"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubsim.Options{})
			token := tt.token
			if token == "" {
				token = w.token(t)
			}
			w.SetOutage(githubsim.Outage{Mode: tt.outage})
			s := w.start(t, t.TempDir(), nil, "configure", "--unattended", "--no-default-labels", "--url", w.URL(), "--token", token, "--name", "n", "--labels", "a")
			check(t, "configure", s.ended(t), 1, s)
			s.err.has(t, tt.says)
		})
	}
}

func TestConfigure_DefaultLabelsAndReplace(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	w.jit(t, "same", "old")
	s := w.start(t, t.TempDir(), nil, "configure", "--unattended", "--url", w.URL(), "--token", w.token(t),
		"--name", "same", "--replace", "--labels", "a,,B,A", "--work", "elsewhere")
	check(t, "configure", s.ended(t), 0, s)
	runners, err := w.Runners(t.Context())
	if err != nil || len(runners) != 1 || runners[0].ID != 1 {
		t.Fatalf("Runners() = %+v, %v, want the replaced one under its old id", runners, err)
	}
	if got := runners[0].Labels; len(got) != 5 || !cmp.Equal(got[:2], []string{"self-hosted", "Linux"}) || !cmp.Equal(got[3:], []string{"a", "B"}) {
		t.Errorf("labels = %v, want the three defaults, a and B", got)
	}
	if diff := cmp.Diff([]string{"same"}, w.NamesUsedTwice()); diff != "" { // H37
		t.Errorf("NamesUsedTwice() (-want +got):\n%s", diff)
	}
}
