package githubsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

const credential = "ghs_for-tests"

// site is a hub behind HTTP.
type site struct {
	*githubsim.Hub
	*httptest.Server
}

func newSite(t *testing.T, o githubsim.Options) *site {
	t.Helper()
	h := newHub(o)
	s := &site{h, httptest.NewServer(githubsim.Handler(h, credential))}
	h.SetURL(s.Server.URL + "/octo/repo")
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *site) api(t *testing.T, path, token string) *githubapi.Client {
	t.Helper()
	c, err := githubapi.New(githubapi.Options{
		URL: s.Server.URL + path, HTTPClient: s.Client(), Clock: clock.RealClock{},
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatalf("githubapi.New() error = %v", err)
	}
	return c
}

// do makes one request with the credential and decodes the answer into out, if it is not nil.
func (s *site) do(t *testing.T, method, path string, in, out any) *http.Response {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.Server.URL+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+credential)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(body, out)
	}
	if err != nil {
		t.Fatalf("%s %s answered %d %s: %v", method, path, resp.StatusCode, body, err)
	}
	return resp
}

// TestClientSide: a hub and a client of its server cannot be told apart.
func TestClientSide_HubAndClientAreTheSame(t *testing.T) {
	for _, tt := range []struct {
		name string
		side func(t *testing.T, s *site) narrow
	}{
		{"Hub", func(_ *testing.T, s *site) narrow { return s.Hub }},
		{"ClientOfRepository", func(t *testing.T, s *site) narrow { return s.api(t, "/octo/repo", credential) }},
		{"ClientOfOrganisation", func(t *testing.T, s *site) narrow { return s.api(t, "/octo", credential) }},
		{"AppOfRepository", func(t *testing.T, s *site) narrow { return s.app(t, "/octo/repo") }},
		{"AppOfOrganisation", func(t *testing.T, s *site) narrow { return s.app(t, "/octo") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, githubsim.Options{PollWait: 10 * time.Millisecond})
			side := tt.side(t, s)
			ctx := t.Context()

			j, err := side.JITConfig(ctx, "i-1-1", "run-a")
			if err != nil {
				t.Fatalf("JITConfig() error = %v", err)
			}
			if _, err := side.JITConfig(ctx, "i-1-1", "run-b"); !errors.Is(err, githubapi.ErrNameTaken) {
				t.Errorf("JITConfig() of a taken name error = %v, want ErrNameTaken", err)
			}
			if _, err := side.JITConfig(ctx, strings.Repeat("x", 65), "run-b"); err == nil {
				t.Error("JITConfig() of a long name error = nil")
			}
			tok, err := side.RegistrationToken(ctx)
			if left := time.Until(tok.Expires); err != nil || left < 59*time.Minute || left > time.Hour {
				t.Errorf("RegistrationToken() = %v, %v, want one for an hour", tok, err)
			}
			for i := range 120 { // more than one page
				q := githubsim.RegisterRequest{Name: fmt.Sprintf("r-%d", i), Labels: []string{"x", "y"}}
				if _, err := s.Register(ctx, tok.Value, q); err != nil {
					t.Fatalf("Register() error = %v", err)
				}
			}
			cred, err := githubsim.DecodeJIT(j.Config)
			if err != nil {
				t.Fatalf("DecodeJIT() error = %v", err)
			}
			session := connect(t, s.Hub, cred)
			submit(t, s.Hub, githubsim.Job{ID: "j", Label: "run-a"})
			next(t, session, 0)
			got, err := side.Runners(ctx)
			if err != nil || len(got) != 121 {
				t.Fatalf("Runners() = %d runners, %v, want 121", len(got), err)
			}
			want := []githubapi.Runner{
				{ID: 1, Name: "i-1-1", Online: true, Busy: true, Labels: []string{"run-a"}},
				{ID: 121, Name: "r-119", Labels: []string{"x", "y"}},
			}
			if diff := cmp.Diff(want, []githubapi.Runner{got[0], got[120]}); diff != "" {
				t.Errorf("first and last runner (-want +got):\n%s", diff)
			}
			if err := side.DeleteRunner(ctx, 1); !errors.Is(err, githubapi.ErrBusy) {
				t.Errorf("DeleteRunner() of a busy runner error = %v, want ErrBusy", err)
			}
			if err := side.DeleteRunner(ctx, 2); err != nil {
				t.Errorf("DeleteRunner() error = %v", err)
			}
			if err := side.DeleteRunner(ctx, 2); err != nil {
				t.Errorf("DeleteRunner() again error = %v, want nil", err)
			}

			s.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
			if _, err := side.Runners(ctx); !errors.Is(err, githubapi.ErrUnavailable) {
				t.Errorf("Runners() in an outage error = %v, want ErrUnavailable", err)
			}
			s.SetOutage(githubsim.Outage{Mode: githubsim.Lost})
			if err := side.DeleteRunner(ctx, 3); !errors.Is(err, githubapi.ErrUnavailable) {
				t.Errorf("DeleteRunner() with a lost reply error = %v, want ErrUnavailable", err)
			}
			s.SetOutage(githubsim.Outage{})
			if got := s.Registrations()[2].Removed; got != githubsim.RemovedDeleted {
				t.Errorf("runner whose deletion was not answered was removed by %q, want %q", got, githubsim.RemovedDeleted)
			}
			s.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 1, Window: time.Hour})
			if _, err := side.Runners(ctx); err != nil && !errors.Is(err, githubapi.ErrThrottled) {
				t.Errorf("Runners() on the last of its budget error = %v", err) // a second page may be over it
			}
			if _, err := side.Runners(ctx); !errors.Is(err, githubapi.ErrThrottled) {
				t.Errorf("Runners() over the limit error = %v, want ErrThrottled", err)
			}
		})
	}
}

func TestClientSide_WrongCredential(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	_, err := s.api(t, "/octo/repo", "wrong").Runners(t.Context())
	if !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(err.Error(), "Bad credentials") {
		t.Errorf("Runners() error = %v, want ErrRefused", err)
	}
	for _, path := range []string{"/repos/o/r/actions/runners", "/api/v3/orgs/o/actions/runners", "/_sim/jobs", "/_sim/registrations", "/nowhere"} {
		resp, err := s.Client().Get(s.Server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("GET %s without a credential = %d, want 401", path, resp.StatusCode)
		}
	}
	open := httptest.NewServer(githubsim.Handler(s.Hub, ""))
	defer open.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, open.URL+"/_sim/jobs", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ")
	resp, err := open.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a server without a credential answers %d, want 401", resp.StatusCode)
	}
}

func TestServe_EndsWithItsContext_PollsIncluded(t *testing.T) {
	h := newHub(githubsim.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- githubsim.Serve(ctx, ln, h, credential) }()
	if err := h.Until(t.Context(), func() bool { return h.URL() != githubsim.DefaultURL }); err != nil {
		t.Fatal(err)
	}
	if want := "http://" + ln.Addr().String() + "/octo/repo"; h.URL() != want {
		t.Errorf("URL() = %s, want %s", h.URL(), want)
	}
	_, cred := jit(t, h, "i-1-1", "a")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	remote, err := githubsim.NewRemote(cred.URL, client)
	if err != nil {
		t.Fatalf("NewRemote() error = %v", err)
	}
	s, err := remote.Connect(t.Context(), cred)
	if err != nil {
		t.Fatalf("Connect() error = %v", err)
	}
	polled := make(chan error, 1)
	go func() {
		_, err := s.Next(t.Context(), 0)
		polled <- err
	}()
	if err := h.Until(t.Context(), func() bool { return h.Calls()[githubsim.CallPoll] == 1 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve() error = %v, want nil", err)
	}
	if err := <-polled; !errors.Is(err, githubapi.ErrUnavailable) {
		t.Errorf("Next() as the server ends error = %v, want ErrUnavailable", err)
	}
	if _, err := s.Next(t.Context(), 0); !errors.Is(err, githubapi.ErrUnavailable) {
		t.Errorf("Next() without a server error = %v, want ErrUnavailable", err)
	}
}

// accepts tells of every call of Accept: at the second, the server has noted the first connection.
type accepts struct {
	net.Listener
	calls chan struct{}
}

func (a accepts) Accept() (net.Conn, error) {
	a.calls <- struct{}{}
	return a.Listener.Accept()
}

// Clients keep connections in reserve on which they never ask anything.
func TestServe_EndsWithItsContext_UnusedConnectionsIncluded(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	noted, ended := accepts{ln, make(chan struct{}, 3)}, make(chan error, 1)
	go func() { ended <- githubsim.Serve(ctx, noted, newHub(githubsim.Options{}), credential) }()
	unused, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	<-noted.calls
	<-noted.calls
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve() error = %v, want nil", err)
	}
}

func TestRemote_ErrorsAreTheHubs(t *testing.T) {
	s := newSite(t, githubsim.Options{PollWait: 10 * time.Millisecond})
	ctx := t.Context()
	remote, err := githubsim.NewRemote(s.Hub.URL(), s.Client())
	if err != nil {
		t.Fatalf("NewRemote() error = %v", err)
	}
	tok, err := s.RegistrationToken(ctx)
	if err != nil {
		t.Fatalf("RegistrationToken() error = %v", err)
	}
	q := githubsim.RegisterRequest{Name: "i-1-1", Labels: []string{"a"}}
	cred, err := remote.Register(ctx, tok.Value, s.Hub.URL(), q)
	if err != nil {
		t.Fatalf("Register() error = %v", err)
	}
	session, err := remote.Connect(ctx, cred)
	if err != nil {
		t.Fatalf("Connect() error = %v", err)
	}
	for _, tt := range []struct {
		name string
		f    func() error
		want error
	}{
		{"TakenName", func() error { _, err := remote.Register(ctx, tok.Value, "", q); return err }, githubapi.ErrNameTaken},
		{"WrongToken", func() error { _, err := remote.Register(ctx, "guess", "", q); return err }, githubsim.ErrUnauthorized},
		{"NoLabels", func() error {
			_, err := remote.Register(ctx, tok.Value, "", githubsim.RegisterRequest{Name: "x"})
			return err
		}, githubsim.ErrInvalid},
		{"Conflict", func() error { _, err := remote.Connect(ctx, cred); return err }, githubsim.ErrSessionConflict},
		{"NoJob", func() error { return session.Complete(ctx, "j", githubsim.Success) }, githubsim.ErrNoJob},
		{"Deprecated", func() error {
			s.SetDeprecated(true)
			defer s.SetDeprecated(false)
			_, err := session.Next(ctx, 0)
			return err
		}, githubsim.ErrDeprecated},
		{"None", func() error { _, err := session.Next(ctx, 0); return err }, nil},
		{"Closed", func() error { return session.Close(ctx) }, nil},
		{"Gone", func() error { _, err := session.Next(ctx, 0); return err }, githubsim.ErrSessionGone},
		{"Removed", func() error { return remote.Unregister(ctx, tok.Value, cred.RunnerID) }, nil},
		{"RunnerGone", func() error { _, err := remote.Connect(ctx, cred); return err }, githubsim.ErrRunnerGone},
		{"SessionOfRunnerGone", func() error { _, err := session.Next(ctx, 0); return err }, githubsim.ErrRunnerGone},
	} {
		if err := tt.f(); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: error = %v, want %v", tt.name, err, tt.want)
		} else if err != nil && strings.Contains(err.Error(), tok.Value) {
			t.Errorf("%s: error tells the token: %v", tt.name, err)
		}
	}
	for _, url := range []string{"", "::", "ftp://x/o/r", "/o/r"} {
		if _, err := githubsim.NewRemote(url, nil); !errors.Is(err, githubsim.ErrInvalid) {
			t.Errorf("NewRemote(%q) error = %v, want ErrInvalid", url, err)
		}
	}
}
