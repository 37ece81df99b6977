package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/metrics"
)

const ghSecret = "ghp_do-not-tell"

// fakeGitHub answers every call with code and body, and notes what was asked.
func fakeGitHub(t *testing.T, code int, body string) (url string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body)) // the client may have hung up
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func TestInit_GitHub(t *testing.T) {
	const token = `{"token":"T","expires_at":"2999-01-01T00:00:00Z"}`
	for _, tt := range []struct {
		name, flag string
		code       int
		body       string
		exit       int
		out, errs  []string
		asked      string
	}{
		{"Reachable", "", 201, token, exitDone, []string{"Nothing to make", "github octo/repo: reachable\n"}, nil,
			"POST /api/v3/repos/octo/repo/actions/runners/registration-token"},
		{"DryRun", "--dry-run", 200, `{"runners":[]}`, exitDone, []string{"github octo/repo: reachable\n"}, nil,
			"GET /api/v3/repos/octo/repo/actions/runners"},
		{"Refused", "", 403, `{"message":"Resource not accessible"}`, exitFailure, nil,
			[]string{"github: create registration token: ", "Resource not accessible", "the classic token needs the scope repo", `"Administration: write"`},
			"POST /api/v3/repos/octo/repo/actions/runners/registration-token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, asked := fakeGitHub(t, tt.code, tt.body)
			c := newCLI(nil)
			c.files["/token"] = ghSecret + "\n"
			args := []string{"init", "--set", "github.url=" + url + "/octo/repo", "--set", "github.tokenFile=/token"}
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			if code := c.run(t.Context(), args...); code != tt.exit {
				t.Errorf("remuda init = %d, want %d: %s", code, tt.exit, c.err.String())
			}
			contains(t, c.out.String(), tt.out...)
			contains(t, c.err.String(), tt.errs...)
			if want := []string{tt.asked + " Bearer " + ghSecret}; gocmp.Diff(want, *asked) != "" {
				t.Errorf("GitHub was asked %q, want %q", *asked, want)
			}
			if strings.Contains(c.out.String()+c.err.String(), ghSecret) {
				t.Error("remuda init shows the token")
			}
		})
	}
}

func appPEM(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// A credential file that is missing, unreadable or empty stops the controller before it does anything.
func TestController_NoCredentials_StopsAtTheStart(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"Missing": {nil, "read github.tokenFile: open /token: file does not exist"},
		"Lines":   {map[string]string{"/token": "ghp_x\r\n# old\n"}, "github.tokenFile /token: the access token must be one word on one line: it has more than one line"},
		"BOM":     {map[string]string{"/token": "\ufeffghp_x\n"}, "it begins with a byte order mark"},
		"Quotes":  {map[string]string{"/token": "'ghp_x'\n"}, "it has quotes"},
		"Empty":   {map[string]string{"/token": "\n"}, "no access token in github.tokenFile or $"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCLI(nil)
			maps.Copy(c.files, tt.files)
			code := c.run(t.Context(), "controller", "--set", "github.url=https://github.com/octo/repo", "--set", "github.tokenFile=/token")
			if code != exitUsage || !strings.Contains(c.err.String(), tt.want) || c.out.String() != "" {
				t.Errorf("remuda controller = %d, %q, want %d and %q", code, c.err.String(), exitUsage, tt.want)
			}
		})
	}
}

func TestInit_GitHubApp(t *testing.T) {
	for _, tt := range []struct {
		name, key string
		exit      int
		want      string
	}{
		{"NoFile", "", exitFailure, "github: read github.appKeyFile: open /app.pem: file does not exist"},
		{"NoKey", "hunter2", exitFailure, "github: github.appKeyFile /app.pem: the App's key is no RSA private key in PEM form"},
		{"NotInstalled", appPEM(t), exitFailure, "install the App for octo/repo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, asked := fakeGitHub(t, 404, `{"message":"Not Found"}`)
			c := newCLI(nil)
			if tt.key != "" {
				c.files["/app.pem"] = tt.key
			}
			code := c.run(t.Context(), "init", "--set", "github.url="+url+"/octo/repo", "--set", "github.appId=5", "--set", "github.appKeyFile=/app.pem")
			if code != tt.exit || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("remuda init = %d, %q, want %d and %q", code, c.err.String(), tt.exit, tt.want)
			}
			if strings.Contains(c.err.String(), "hunter2") || strings.Contains(c.err.String(), "BEGIN") {
				t.Error("remuda init shows the key")
			}
			if called := len(*asked) > 0; called != (tt.name == "NotInstalled") {
				t.Errorf("GitHub was asked %q", *asked)
			}
		})
	}
}

// Both are read anew: what an operator replaces serves from the next call on.
func TestGitHub_TokenAndKeyAreReadAnew(t *testing.T) {
	c := newCLI(nil)
	token, key := c.githubToken(config.GitHub{TokenFile: "/token"}), c.githubKey(config.GitHub{AppKeyFile: "/key"})
	for _, want := range []string{"one", "two"} {
		c.files["/token"], c.files["/key"] = want+"\n", want
		gotToken, err := token(t.Context())
		gotKey, kerr := key(t.Context())
		if err != nil || kerr != nil || gotToken != want || string(gotKey) != want {
			t.Errorf("token = %q, %v, key = %q, %v, want %q", gotToken, err, gotKey, kerr, want)
		}
	}
}

// A simulated GitHub takes its own token, whatever was configured for the real one.
func TestSimulate_ForgetsTheRealCredentials(t *testing.T) {
	c := config.Default()
	c.GitHub.AppID, c.GitHub.AppKeyFile = 5, "/etc/remuda/app.pem"
	c.GitHub.RunnerGroup, c.GitHub.AppInstallationID = "linux", 7
	simulate(&c, "http://127.0.0.1:1")
	want := config.Default().GitHub
	want.URL, want.APIURL, want.TokenEnv = "http://127.0.0.1:1/octo/remuda", "http://127.0.0.1:1", simTokenEnv
	if diff := gocmp.Diff(want, c.GitHub); diff != "" {
		t.Errorf("simulated (-want +got):\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate() = %v", err)
	}
}

// asked is a GitHub of the chore.
type asked struct {
	err   error
	end   githubapi.Deprecation
	looks int
}

func (a *asked) Check(context.Context, bool) error { return a.err }
func (a *asked) Deprecation(context.Context, string) (githubapi.Deprecation, bool, error) {
	a.looks++
	return a.end, true, nil
}

func TestGitHubChore_TellsOfTheRunnersEnd_InTime(t *testing.T) {
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	runtime, registration := start.Add(30*24*time.Hour), start.Add(20*24*time.Hour)
	for _, tt := range []struct {
		name string
		end  githubapi.Deprecation
		at   time.Duration
		want []string
	}{
		{"NoEnd", githubapi.Deprecation{}, 0, nil},
		{"Announced", githubapi.Deprecation{Runtime: runtime}, 0, []string{"level=WARN", "version=2.336.0", "until=2026-12-01"}},
		{"RegistrationFirst", githubapi.Deprecation{Runtime: runtime, Registration: registration}, 0, []string{"level=WARN", "until=2026-11-21"}},
		{"RegistrationAlone", githubapi.Deprecation{Registration: registration}, 0, []string{"until=2026-11-21"}},
		{"OneTickBefore", githubapi.Deprecation{Runtime: runtime}, 30*24*time.Hour - 1, []string{"level=WARN"}},
		{"Over", githubapi.Deprecation{Runtime: runtime}, 30 * 24 * time.Hour, []string{"level=ERROR", "no longer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			hub, clk := &asked{end: tt.end}, clocktesting.NewFakeClock(start.Add(tt.at))
			g := &githubChore{github: hub, metrics: metrics.New(nil), version: "2.336.0", clock: clk, log: slog.New(slog.NewTextHandler(&out, nil))}
			if err := g.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			contains(t, out.String(), tt.want...)
			if tt.want == nil && out.Len() > 0 {
				t.Errorf("log = %q, want nothing", &out)
			}
			if n, err := testutil.GatherAndCount(g.metrics.Registry(), "remuda_runner_version_end_timestamp_seconds"); err != nil || n > 0 != (tt.want != nil) {
				t.Errorf("metrics name %d ends, %v", n, err)
			}
			for i, step := range []time.Duration{versionEvery - 1, versionEvery} {
				clk.SetTime(start.Add(tt.at + step))
				if err := g.do(t.Context()); err != nil {
					t.Fatal(err)
				}
				if hub.looks != i+1 {
					t.Errorf("after %s the dates were asked for %d times, want %d", step, hub.looks, i+1)
				}
			}
		})
	}
}

func TestAgentConfig_Version(t *testing.T) {
	const archive = "https://github.com/actions/runner/releases/download/v2.337.0/actions-runner-linux-x64-2.337.0.tar.gz"
	for _, tt := range []struct{ url, version, want string }{
		{"", "", ""}, {archive, "", "2.337.0"}, {archive, "2.336.0", "2.336.0"}, {"", "2.336.0", "2.336.0"}, {"https://example.com/runner.tar.gz", "", ""},
	} {
		if got := (config.Agent{RunnerURL: config.EveryArch(tt.url), RunnerVersion: tt.version}).Version(); got != tt.want {
			t.Errorf("version of %q, %q = %q, want %q", tt.url, tt.version, got, tt.want)
		}
	}
}

// An outage is no news of the chore and fails nothing; refused credentials are, also while idle.
func TestGitHubChore_TellsOfRefusedCredentials(t *testing.T) {
	var out bytes.Buffer
	hub := &asked{}
	g := &githubChore{github: hub, metrics: metrics.New(nil), clock: clocktesting.NewFakeClock(time.Unix(0, 0)), log: slog.New(slog.NewTextHandler(&out, nil))}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{fmt.Errorf("x: %w", githubapi.ErrUnavailable), ""},
		{errors.Join(githubapi.ErrRefused, errors.New("401 Bad credentials")), "level=ERROR msg=\"GitHub refuses the credentials\""},
		{fmt.Errorf("x: %w", githubapi.ErrThrottled), ""},
		{nil, "GitHub takes the credentials again"},
		{fmt.Errorf("x: %w: name resolution failed", githubapi.ErrLocal), "level=ERROR msg=\"GitHub unreachable: fault on the controller's side\""},
		{nil, "takes the credentials again"},
		{nil, ""},
	} {
		out.Reset()
		hub.err = tt.err
		if err := g.do(t.Context()); err != nil {
			t.Errorf("do() error = %v", err)
		}
		if got := out.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("after %v log = %q, want %q", tt.err, got, tt.want)
		}
	}
	if hub.looks > 0 {
		t.Errorf("asked for the end of an unknown version")
	}
}

// github.secret holds a token or an App, is checked at the start, and shows nothing of what it holds.
func TestInit_GitHubSecret(t *testing.T) {
	key := appPEM(t)
	app := func(id int, key string) string {
		text, err := json.Marshal(map[string]any{"appId": id, "key": key})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tt := range []struct{ name, holds, errs string }{
		{"Token", ghSecret + "\n", ""},
		{"Nothing", " \n", "must be one access token"},
		{"Words", "put it here", "must be one access token"},
		{"Unknown", `{"appId": 5, "key": "k", "password": "hunter2"}`, "must be JSON with appId, key"},
		{"NoID", app(0, key), "appId must be at least 1"},
		{"NoKey", app(5, "hunter2"), "the App's key is no RSA private key in PEM form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := fakeGitHub(t, 201, `{"token":"T","expires_at":"2999-01-01T00:00:00Z"}`)
			c := newCLI(nil)
			c.files["/secret"] = tt.holds
			code := c.run(t.Context(), "init", "--set", "github.url="+url+"/octo/repo", "--set", "github.secret=/secret")
			if ok := code == exitDone; ok != (tt.errs == "") {
				t.Errorf("remuda init = %d: %s", code, c.err.String())
			}
			contains(t, c.err.String(), tt.errs)
			if shown := c.out.String() + c.err.String(); strings.Contains(shown, "hunter2") || strings.Contains(shown, ghSecret) || strings.Contains(shown, "BEGIN") {
				t.Errorf("it shows what it holds: %s", shown)
			}
		})
	}
}

// What github.secret holds is read anew; another kind of credential is none for a client that runs.
func TestGitHubSecret_ReadAnew(t *testing.T) {
	c := newCLI(nil)
	c.files["/secret"] = "ghp_1"
	var o githubapi.Options
	if err := secretCredential(t.Context(), c.app, config.GitHub{Secret: "/secret"}, &o); err != nil {
		t.Fatal(err)
	}
	for holds, want := range map[string]string{"ghp_1": "ghp_1", "ghp_2": "ghp_2"} {
		c.files["/secret"] = holds
		if got, err := o.Token(t.Context()); err != nil || got != want {
			t.Errorf("token = %q, %v, want %q", got, err, want)
		}
	}
	c.files["/secret"] = `{"appId": 5, "key": "k"}`
	if _, err := o.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "restart the controller") {
		t.Errorf("an App in place of a token: %v", err)
	}
	delete(c.files, "/secret")
	if _, err := o.Token(t.Context()); err == nil {
		t.Error("a file that is gone gives a token")
	}
}

// The controller sees the runners of other fleets: a job that one of them can take is not reported as stuck.
func TestGitHubClient_ListsRunnersOfOtherFleets_Review(t *testing.T) {
	url, _ := fakeGitHub(t, 200, `{"runners":[{"id":1,"name":"i-1-1.1"},{"id":2,"name":"by-hand","labels":[{"name":"4711"}]}]}`)
	c := newCLI(nil)
	c.files["/token"] = ghSecret
	client, err := c.githubClient(config.Config{GitHub: config.GitHub{URL: url + "/octo/repo", TokenFile: "/token"}}, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Runners(t.Context())
	if want := []githubapi.Runner{{ID: 1, Name: "i-1-1.1"}, {ID: 2, Name: "by-hand", Labels: []string{"4711"}}}; err != nil || !gocmp.Equal(got, want) {
		t.Errorf("Runners() = %v, %v, want %v", got, err, want)
	}
}
