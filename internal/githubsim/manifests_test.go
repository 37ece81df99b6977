package githubsim_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// post sends a form without following where it leads.
func (s *site) post(t *testing.T, path string, form url.Values) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Server.URL+path, strings.NewReader(form.Encode()))
	check(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.Client().Transport.RoundTrip(req)
	check(t, err)
	check(t, resp.Body.Close())
	return resp
}

// code posts a manifest, changed by with, and returns the code that GitHub gives for it.
func (s *site) code(t *testing.T, with ...func(*githubapi.Manifest)) string {
	t.Helper()
	m, _, err := githubapi.NewManifest("https://github.com/octo", "http://127.0.0.1:1/created")
	check(t, err)
	for _, f := range with {
		f(&m)
	}
	text, err := m.Encode()
	check(t, err)
	resp := s.post(t, "/organizations/octo/settings/apps?state=s1", url.Values{"manifest": {text}, "name": {m.Name}})
	back, err := resp.Location()
	check(t, err)
	if got := back.Query().Get("state"); got != "s1" || back.Host != "127.0.0.1:1" {
		t.Errorf("GitHub leads to %s, want the manifest's redirect_url with its state", back)
	}
	return back.Query().Get("code")
}

// A code serves once, for an hour; what makes no App is refused by the first page.
func TestManifests_Codes(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	s := newSite(t, githubsim.Options{})
	s.Server.Config.Handler = githubsim.Handler(githubsim.New(githubsim.Options{Clock: clock}), credential)
	convert := func(code string) error {
		m, _, err := githubapi.NewManifest("https://github.com/octo", "http://127.0.0.1:1/created")
		check(t, err)
		_, err = githubapi.Convert(t.Context(), githubapi.Options{URL: s.Server.URL + "/octo", HTTPClient: s.Client()}, m, code)
		return err
	}
	code, late := s.code(t), s.code(t)
	check(t, convert(code))
	clock.Step(time.Hour)
	for _, c := range []string{code, late, "none"} {
		if err := convert(c); !errors.Is(err, githubapi.ErrCode) || strings.Contains(err.Error(), c) {
			t.Errorf("code %s: %v, want ErrCode without it", c, err)
		}
	}
	for _, text := range []string{
		"", "{}", `{"name":"x","url":"u","redirect_url":"r","hook_attributes":{"url":"u"},"default_permissions":{"checks":"admin"}}`,
		`{"name":"` + strings.Repeat("x", 35) + `","url":"u","redirect_url":"r","hook_attributes":{"url":"u"}}`,
	} {
		if resp := s.post(t, "/settings/apps/new", url.Values{"manifest": {text}}); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("manifest %q = %d, want 422", text, resp.StatusCode)
		}
	}
}
