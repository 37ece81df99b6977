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
	check(t, err)
	return c
}

// do makes one request with the credential and decodes the answer into out, if it is not nil.
func (s *site) do(t *testing.T, method, path string, in, out any) *http.Response {
	t.Helper()
	raw, err := json.Marshal(in)
	check(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, s.Server.URL+path, bytes.NewReader(raw))
	check(t, err)
	req.Header.Set("Authorization", "token "+credential)
	resp, err := s.Client().Do(req)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(body, out)
	}
	check(t, err)
	return resp
}

// answers judges the status of the answer to a request.
func (s *site) answers(t *testing.T, method, path string, in any, want int) {
	t.Helper()
	if got := s.do(t, method, path, in, nil).StatusCode; got != want {
		t.Errorf("%s %s %v = %d, want %d", method, path, in, got, want)
	}
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
			check(t, err)
			expect(t, "JITConfig() of a taken name", errorOf(side.JITConfig(ctx, "i-1-1", "run-b")), githubapi.ErrNameTaken)
			if _, err := side.JITConfig(ctx, strings.Repeat("x", 65), "run-b"); err == nil {
				t.Error("JITConfig() of a long name error = nil")
			}
			tok, err := side.RegistrationToken(ctx)
			if left := time.Until(tok.Expires); err != nil || left < 59*time.Minute || left > time.Hour {
				t.Errorf("RegistrationToken() = %v, %v, want one for an hour", tok, err)
			}
			for i := range 120 { // more than one page
				q := githubsim.RegisterRequest{Name: fmt.Sprintf("r-%d", i), Labels: []string{"x", "y"}}
				check(t, errorOf(s.Register(ctx, tok.Value, q)))
			}
			cred, err := githubsim.DecodeJIT(j.Config)
			check(t, err)
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
			for _, label := range []string{"z", "Y", "z"} {
				expect(t, "AddLabel()", side.AddLabel(ctx, 121, label), nil)
			}
			if r, _, err := s.Hub.FindRunner(ctx, "r-119"); err != nil || !cmp.Equal(r.Labels, []string{"x", "y", "z"}) {
				t.Errorf("FindRunner() = %v, %v, want the labels x, y and z", r.Labels, err)
			}
			expect(t, "AddLabel() of nobody", side.AddLabel(ctx, 4711, "z"), githubapi.ErrGone)
			if err := side.AddLabel(ctx, 121, ""); err == nil {
				t.Error("AddLabel() of nothing error = nil")
			}
			expect(t, "DeleteRunner() of a busy runner", side.DeleteRunner(ctx, 1), githubapi.ErrBusy)
			expect(t, "DeleteRunner()", side.DeleteRunner(ctx, 2), nil)
			expect(t, "DeleteRunner() again", side.DeleteRunner(ctx, 2), nil)

			s.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
			expect(t, "Runners() in an outage", errorOf(side.Runners(ctx)), githubapi.ErrUnavailable)
			s.SetOutage(githubsim.Outage{Mode: githubsim.Lost})
			expect(t, "DeleteRunner() with a lost reply", side.DeleteRunner(ctx, 3), githubapi.ErrUnavailable)
			s.SetOutage(githubsim.Outage{})
			if got := s.Registrations()[2].Removed; got != githubsim.RemovedDeleted {
				t.Errorf("runner whose deletion was not answered was removed by %q, want %q", got, githubsim.RemovedDeleted)
			}
			s.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 1, Window: time.Hour})
			if _, err := side.Runners(ctx); err != nil && !errors.Is(err, githubapi.ErrThrottled) {
				t.Errorf("Runners() on the last of its budget error = %v", err) // a second page may be over it
			}
			expect(t, "Runners() over the limit", errorOf(side.Runners(ctx)), githubapi.ErrThrottled)
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
		check(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("GET %s without a credential = %d, want 401", path, resp.StatusCode)
		}
	}
	open := httptest.NewServer(githubsim.Handler(s.Hub, ""))
	defer open.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, open.URL+"/_sim/jobs", nil)
	check(t, err)
	req.Header.Set("Authorization", "Bearer ")
	resp, err := open.Client().Do(req)
	check(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a server without a credential answers %d, want 401", resp.StatusCode)
	}
}

func TestServe_EndsWithItsContext_PollsIncluded(t *testing.T) {
	h := newHub(githubsim.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- githubsim.Serve(ctx, ln, h, credential) }()
	check(t, h.Until(t.Context(), func() bool { return h.URL() != githubsim.DefaultURL }))
	if want := "http://" + ln.Addr().String() + "/octo/repo"; h.URL() != want {
		t.Errorf("URL() = %s, want %s", h.URL(), want)
	}
	_, cred := jit(t, h, "i-1-1", "a")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	remote, err := githubsim.NewRemote(cred.URL, client)
	check(t, err)
	s, err := remote.Connect(t.Context(), cred)
	check(t, err)
	polled := make(chan error, 1)
	go func() {
		_, err := s.Next(t.Context(), 0)
		polled <- err
	}()
	check(t, h.Until(t.Context(), func() bool { return h.Calls()[githubsim.CallPoll] == 1 }))
	cancel()
	expect(t, "Serve()", <-ended, nil)
	expect(t, "Next() as the server ends", <-polled, githubapi.ErrUnavailable)
	expect(t, "Next() without a server", errorOf(s.Next(t.Context(), 0)), githubapi.ErrUnavailable)
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
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	noted, ended := accepts{ln, make(chan struct{}, 3)}, make(chan error, 1)
	go func() { ended <- githubsim.Serve(ctx, noted, newHub(githubsim.Options{}), credential) }()
	unused, err := net.Dial("tcp", ln.Addr().String())
	check(t, err)
	defer unused.Close()
	<-noted.calls
	<-noted.calls
	cancel()
	expect(t, "Serve()", <-ended, nil)
}

func TestRemote_ErrorsAreTheHubs(t *testing.T) {
	s := newSite(t, githubsim.Options{PollWait: 10 * time.Millisecond})
	ctx := t.Context()
	remote, err := githubsim.NewRemote(s.Hub.URL(), s.Client())
	check(t, err)
	tok, err := s.RegistrationToken(ctx)
	check(t, err)
	q := githubsim.RegisterRequest{Name: "i-1-1", Labels: []string{"a"}}
	cred, err := remote.Register(ctx, tok.Value, s.Hub.URL(), q)
	check(t, err)
	session, err := remote.Connect(ctx, cred)
	check(t, err)
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
		err := tt.f()
		expect(t, tt.name, err, tt.want)
		if strings.Contains(fmt.Sprint(err), tok.Value) {
			t.Errorf("%s: error tells the token: %v", tt.name, err)
		}
	}
	for _, url := range []string{"", "::", "ftp://x/o/r", "/o/r"} {
		expect(t, "NewRemote("+url+")", errorOf(githubsim.NewRemote(url, nil)), githubsim.ErrInvalid)
	}
}
