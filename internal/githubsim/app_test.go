package githubsim_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// appKey is for every test: making one takes a while.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // only without any randomness
	}
	return key
})

// app installs an App and returns a client that works as it.
func (s *site) app(t *testing.T, path string, with ...func(*githubapi.Options)) *githubapi.Client {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(&appKey().PublicKey)
	check(t, err)
	pemOf := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	check(t, s.SetApp(githubsim.App{ID: 5, Installation: 77, PublicKey: string(pemOf)}))
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey())})
	o := githubapi.Options{
		URL: s.Server.URL + path, HTTPClient: s.Client(), Clock: clock.RealClock{},
		App: &githubapi.App{ID: 5, Key: func(context.Context) ([]byte, error) { return private, nil }},
	}
	for _, w := range with {
		w(&o)
	}
	c, err := githubapi.New(o)
	check(t, err)
	return c
}

// Only what the App signed, for no longer than GitHub allows, makes a token; and that token serves.
func TestApp_Signatures(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	now := time.Now()
	good := jwt.RegisteredClaims{Issuer: "5", IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(time.Minute))}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	sign := func(key any, m jwt.SigningMethod, change func(*jwt.RegisteredClaims)) string {
		c := good
		change(&c)
		signed, err := jwt.NewWithClaims(m, c).SignedString(key)
		check(t, err)
		return signed
	}
	same := func(*jwt.RegisteredClaims) {}
	ask := func(path, signature string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Server.URL+path, nil)
		check(t, err)
		req.Header.Set("Authorization", "Bearer "+signature)
		resp, err := s.Client().Do(req)
		check(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	const path = "/app/installations/77/access_tokens"
	if got := ask(path, sign(appKey(), jwt.SigningMethodRS256, same)); got != 401 {
		t.Errorf("without an App = %d, want 401", got)
	}
	s.app(t, "/octo")
	for _, tt := range []struct {
		name, path, signature string
		want                  int
	}{
		{"Good", path, sign(appKey(), jwt.SigningMethodRS256, same), 201},
		{"OtherInstallation", "/app/installations/78/access_tokens", sign(appKey(), jwt.SigningMethodRS256, same), 404},
		{"OtherKey", path, sign(other, jwt.SigningMethodRS256, same), 401},
		{"OtherMethod", path, sign([]byte("x"), jwt.SigningMethodHS256, same), 401},
		{"OtherApp", path, sign(appKey(), jwt.SigningMethodRS256, func(c *jwt.RegisteredClaims) { c.Issuer = "6" }), 401},
		{"Over", path, sign(appKey(), jwt.SigningMethodRS256, func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now.Add(-time.Minute)) }), 401},
		{"TooLong", path, sign(appKey(), jwt.SigningMethodRS256, func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now.Add(time.Hour)) }), 401},
		{"FromTheFuture", path, sign(appKey(), jwt.SigningMethodRS256, func(c *jwt.RegisteredClaims) {
			c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(now.Add(5*time.Minute)), jwt.NewNumericDate(now.Add(6*time.Minute))
		}), 401},
		{"PersonalToken", path, credential, 401},
	} {
		if got := ask(tt.path, tt.signature); got != tt.want {
			t.Errorf("%s: answer = %d, want %d", tt.name, got, tt.want)
		}
	}
	expect(t, "SetApp() without a key", s.SetApp(githubsim.App{ID: 5, Installation: 77, PublicKey: "no key"}), githubsim.ErrInvalid)
}

// A token ends with its hour, or with the App, and the client makes another one.
func TestApp_TokensEnd(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	c := s.app(t, "/octo/repo")
	for range 2 {
		check(t, errorOf(c.Runners(t.Context())))
	}
	if n := s.Calls()[githubsim.CallAppToken]; n != 1 {
		t.Errorf("%d installation tokens for two calls, want 1", n)
	}
	s.app(t, "/octo/repo") // the App is installed anew
	expect(t, "Runners() with a token of before", errorOf(c.Runners(t.Context())), githubapi.ErrRefused)
	if _, err := c.Runners(t.Context()); err != nil || s.Calls()[githubsim.CallAppToken] != 2 {
		t.Errorf("Runners() after a refusal = %v with %d tokens, want another token", err, s.Calls()[githubsim.CallAppToken])
	}
	s.SetOutage(githubsim.Outage{Mode: githubsim.Revoked})
	expect(t, "Runners() while credentials are revoked", errorOf(c.Runners(t.Context())), githubapi.ErrRefused)
}

// A runner is in the group it was registered with, and nowhere is one that does not exist.
func TestGroups(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	s.SetGroups("gpu", "Linux Large")
	in := func(group string) func(*githubapi.Options) {
		return func(o *githubapi.Options) { o.RunnerGroup = group }
	}
	check(t, errorOf(s.app(t, "/octo", in("linux large")).JITConfig(t.Context(), "i-1-1.1", "1")))
	if _, err := s.app(t, "/octo", in("windows")).JITConfig(t.Context(), "i-1-1.2", "1"); !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(fmt.Sprint(err), "which has: Default, gpu, Linux Large") {
		t.Errorf("JITConfig() in an unknown group = %v", err)
	}
	id := func(o *githubapi.Options) { o.RunnerGroupID = 9 }
	expect(t, "JITConfig() in a group of an unknown id", errorOf(s.app(t, "/octo", id).JITConfig(t.Context(), "i-1-1.3", "1")), githubapi.ErrRefused)
	tok, err := s.RegistrationToken(t.Context())
	check(t, err)
	for group, want := range map[string]error{"GPU": nil, "windows": githubsim.ErrNoGroup} {
		_, err := s.Register(t.Context(), tok.Value, githubsim.RegisterRequest{Name: "i-2-" + group, Labels: []string{"1"}, Group: group})
		expect(t, "Register() in group "+group, err, want)
	}
	var list struct {
		Runners []struct {
			Name  string `json:"name"`
			Group int64  `json:"runner_group_id"`
		} `json:"runners"`
	}
	s.do(t, "GET", "/enterprises/acme/actions/runners", nil, &list)
	if len(list.Runners) != 2 || list.Runners[0].Group != 3 || list.Runners[1].Group != 2 {
		t.Errorf("runners = %+v, want groups 3 and 2", list.Runners)
	}
	if got := s.Registrations()[0].Group; got != "Linux Large" {
		t.Errorf("group of the first registration = %q", got)
	}
}

// Versions of the runner have the ends that were set, and no others are known.
func TestDeprecations(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	end := githubapi.Deprecation{Registration: time.Date(2026, 11, 5, 8, 4, 55, 0, time.UTC)}
	s.SetEnd("2.336.0", end)
	for version, known := range map[string]bool{"2.336.0": true, "2.337.0": false} {
		got, ok, err := s.app(t, "/octo/repo").Deprecation(t.Context(), version)
		if err != nil || ok != known || known && got != end {
			t.Errorf("Deprecation(%s) = %+v, %v, %v", version, got, ok, err)
		}
	}
}

// What tests in other processes set.
func TestControl_AppGroupsAndVersions(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	for path, body := range map[string]any{
		"/_sim/groups": []string{"gpu"}, "/_sim/deprecated": true,
		"/_sim/deprecations/2.336.0": map[string]any{"runtime": "2026-11-05T08:04:55Z"},
	} {
		s.answers(t, "PUT", path, body, 204)
		s.answers(t, "PUT", path, "nonsense", 422)
	}
	s.answers(t, "PUT", "/_sim/app", githubsim.App{ID: 1, Installation: 1, PublicKey: "no key"}, 422)
	d, known, err := s.api(t, "/octo/repo", credential).Deprecation(t.Context(), "2.336.0")
	if err != nil || !known || d.Runtime.IsZero() {
		t.Errorf("Deprecation() = %+v, %v, %v", d, known, err)
	}
	j, err := s.JITConfig(t.Context(), "i-1-1.1", "1")
	check(t, err)
	cred, err := githubsim.DecodeJIT(j.Config)
	check(t, err)
	expect(t, "Next() of a deprecated runner", errorOf(connect(t, s.Hub, cred).Next(t.Context(), 0)), githubsim.ErrDeprecated)
}
